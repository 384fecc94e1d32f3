import { day } from '../../ops/time.ts'
import type { HubState } from '../hub/state.ts'
import type { World } from './plan.ts'

/**
 * Fills a hub with the accounts of a world, then drops the events, as a real hub does after three days: only a sweep
 * finds these accounts. `now` is the world's start.
 */
export function populateHub(state: HubState, { people }: World, now: Date) {
  const daysBefore = (days: number) => new Date(now.getTime() - days * day)
  const everybody = [...people.agents, ...people.bystanders]
  for (const person of everybody) {
    const registeredAt = daysBefore(person.registeredDaysAgo)
    state.addAccount({
      fid: person.fid,
      custody: person.custody.address,
      authAddresses: person.auth ? [person.auth.address] : [],
      appKey: person.appKey,
      registeredAt,
    })
    state.setProfile(person.fid, person.profile, registeredAt)
    for (const { wallet, daysAgo, oldBody } of person.verified) {
      state.addVerification(person.fid, wallet.address, {
        oldBody,
        at: daysBefore(daysAgo),
        privateKey: wallet.privateKey,
      })
    }
    for (const address of person.solana) {
      state.addVerification(person.fid, address, { protocol: 'solana', at: registeredAt })
    }
    for (const { text, daysAgo } of person.casts) state.cast(person.fid, text, { at: daysBefore(daysAgo) })
  }
  for (const { fid, follows } of everybody) {
    for (const target of follows) state.follow(fid, target, now)
  }
  state.forgetEvents()
}
