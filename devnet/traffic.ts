import { setTimeout as delay } from 'node:timers/promises'
import type { DefaultChain } from '../config/chains.ts'
import type { DevChain } from './chain/chain.ts'
import { newIdentity } from './chain/identity.ts'
import type { HubState } from './hub/state.ts'
import { planTraffic } from './traffic-plan.ts'
import { type Deed, toTransaction } from './world/deeds.ts'
import type { World } from './world/plan.ts'
import { createRandom } from './world/random.ts'

interface TrafficOptions {
  readonly world: World
  readonly chains: Readonly<Record<DefaultChain, DevChain>>
  readonly hub: HubState
  /** Transactions a second over all chains. Default 2.5. */
  readonly perSecond?: number
  /** Called for every deed that failed. */
  readonly onFailure?: (deed: Deed, error: Error) => void
}

interface Traffic {
  /** Number of deeds mined, and of those that failed. */
  readonly counts: { succeeded: number; failed: number }
  /** Resolves once nothing more is sent; deeds under way are not awaited. */
  stop(): Promise<void>
}

const mostInFlight = 60
/** Milliseconds between two changes on the social network. */
const socialMs = 10_000

/** Sends deeds and messages in a world until it is stopped. A deed that fails is reported and the others go on. */
export function startTraffic({ world, chains, hub, perSecond = 2.5, onFailure = () => {} }: TrafficOptions): Traffic {
  const plan = planTraffic(world)
  const counts = { succeeded: 0, failed: 0 }
  const stopping = new AbortController()
  let inFlight = 0

  async function perform(deed: Deed) {
    const chain = chains[deed.chain]
    inFlight++
    try {
      const { from, call, gas } = await toTransaction(chain, deed)
      const hash = await chain.send(from, call, { gas })
      const { status } = await chain.mined(hash)
      if (status !== 'success') throw new Error(`transaction ${hash} reverted`)
      const registered = deed.kind === 'register' ? await newIdentity(chain, hash) : undefined
      plan.ended(deed, { success: true, registered })
      counts.succeeded++
    } catch (error) {
      plan.ended(deed, { success: false })
      if (stopping.signal.aborted) return // the chain may be gone already
      counts.failed++
      onFailure(deed, error as Error)
    } finally {
      inFlight--
    }
  }

  async function run() {
    while (await pause(1000 / perSecond, stopping.signal)) {
      if (inFlight < mostInFlight) void perform(plan.next())
    }
  }
  const running = Promise.all([run(), runSocial(world, hub, stopping.signal)])
  return {
    counts,
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** Casts, new bios, and now and then a passer-by who verifies a stranger's address or takes that back. */
async function runSocial(world: World, hub: HubState, signal: AbortSignal) {
  const random = createRandom(`${world.seed}/social`)
  const everybody = [...world.people.agents, ...world.people.bystanders]
  const friend = world.people.bystanders.at(-1)
  const stranger = world.strangers.at(-1)
  let count = 0
  let verified = false
  while (await pause(socialMs, signal)) {
    count++
    const { fid } = random.pick(everybody)
    const roll = random.next()
    if (roll < 0.7) hub.cast(fid, `Update ${count}: still running.`)
    else if (roll < 0.9) hub.setProfile(fid, { bio: `Revised for the ${count}th time.` })
    else if (friend && stranger) {
      if (verified) hub.removeVerification(friend.fid, stranger.address, random.pick(['message', 'revoke', 'prune']))
      else hub.addVerification(friend.fid, stranger.address)
      verified = !verified
    }
  }
}

/** True after the time has passed, false as soon as the signal says stop. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  await delay(ms, undefined, { signal }).catch(() => {})
  return !signal.aborted
}
