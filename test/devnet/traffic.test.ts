import { afterAll, beforeAll, expect, test } from 'vitest'
import { chainNames } from '../../config/chains.ts'
import { type RunningWorld, startWorld } from '../../devnet/running-world.ts'
import { startTraffic } from '../../devnet/traffic.ts'
import { planTraffic } from '../../devnet/traffic-plan.ts'
import type { Deed } from '../../devnet/world/deeds.ts'
import { payingChains, walletsOf } from '../../devnet/world/payments.ts'
import { planWorld } from '../../devnet/world/plan.ts'

const world = planWorld('traffic')

/** Plans many deeds and ends each at once, as if mined; new identities get ids from 10,000, above all existing ones. */
function play(count: number, outcome: (deed: Deed, index: number) => boolean) {
  const plan = planTraffic(world)
  return Array.from({ length: count }, (_, index) => {
    const deed = plan.next()
    const success = outcome(deed, index)
    const made = success && deed.kind === 'register'
    plan.ended(deed, { success, ...(made ? { registered: BigInt(10_000 + index) } : {}) })
    return { deed, success, made: made ? BigInt(10_000 + index) : undefined }
  })
}

test('only its present owner ever moves or changes an identity, whatever failed before', () => {
  const owners = new Map(world.tokens.map(({ chain, agentId, owner }) => [`${chain}:${agentId}`, owner as string]))
  const deeds = play(5_000, (_, index) => index % 5 !== 0)
  expect(deeds.filter(({ deed }) => 'agentId' in deed)).not.toEqual([])
  for (const { deed, success, made } of deeds) {
    if (made !== undefined) owners.set(`${deed.chain}:${made}`, deed.by.address)
    if (!('agentId' in deed)) continue
    const key = `${deed.chain}:${deed.agentId}`
    if (deed.kind === 'feedback') expect(owners.get(key)).not.toBe(deed.by.address)
    else expect(owners.get(key)).toBe(deed.by.address)
    if (deed.kind === 'transfer' && success) owners.set(key, deed.to)
  }
})

test('an identity that is on its way is left alone until the deed has ended', () => {
  const plan = planTraffic(world)
  const underWay = new Set<string>()
  for (let count = 0; count < 2_000; count++) {
    const deed = plan.next()
    if (deed.kind !== 'transfer' && deed.kind !== 'set-uri' && deed.kind !== 'set-wallet') continue
    expect(underWay).not.toContain(`${deed.chain}:${deed.agentId}`)
    underWay.add(`${deed.chain}:${deed.agentId}`)
  }
  expect(underWay.size).toBeGreaterThan(100)
})

test('every chain gets registrations, every chain with dollars payments by both listed calls and through contracts', () => {
  const deeds = play(5_000, () => true).map(({ deed }) => deed)
  for (const name of chainNames)
    expect(deeds.some((deed) => deed.kind === 'register' && deed.chain === name)).toBe(true)
  for (const name of payingChains) {
    const routes = new Set(deeds.flatMap((deed) => (deed.kind === 'pay' && deed.chain === name ? [deed.route] : [])))
    expect([...routes].sort()).toEqual(
      ['batch', 'bytes', 'columns', 'direct', 'escrow', 'forwarded', 'pull', 'receive', 'trailer'].sort(),
    )
  }
  expect(deeds.filter(({ kind, chain }) => kind === 'pay' && chain === 'gnosis')).toEqual([])
})

test('no nonce is used twice, and the first agent keeps its identities', () => {
  const deeds = play(5_000, () => true).map(({ deed }) => deed)
  const nonces = deeds.flatMap((deed) => (deed.kind === 'pay' ? deed.payments.map(({ nonce }) => nonce) : []))
  expect(new Set(nonces).size).toBe(nonces.length)
  const first = walletsOf(world.people.agents[0] as (typeof world.people.agents)[number])
  const kept = world.tokens.filter(({ owner }) => first.some(({ address }) => address === owner))
  expect(kept.length).toBeGreaterThanOrEqual(7)
  for (const { chain, agentId } of kept) {
    expect(
      deeds.filter((deed) => deed.kind === 'transfer' && deed.chain === chain && deed.agentId === agentId),
    ).toEqual([])
  }
})

test('the same world has the same traffic', () => {
  const asText = () =>
    JSON.stringify(
      play(300, () => true),
      (_, item) => (typeof item === 'bigint' ? `${item}` : item),
    )
  expect(asText()).toBe(asText())
})

let running: RunningWorld
beforeAll(async () => {
  running = await startWorld({ seed: world.seed })
  await running.layPast({ blockSeconds: 1 })
})
afterAll(() => running?.stop())

test('on real chains every deed succeeds, and a chain that is gone does not stop the others', async () => {
  const { chains } = running
  const hub = running.hub.state
  const failures: string[] = []
  const onFailure = (deed: Deed, error: Error) => failures.push(`${deed.chain} ${deed.kind}: ${error.message}`)
  const traffic = startTraffic({ world, chains, hub, perSecond: 40, onFailure })
  try {
    await expect.poll(() => traffic.counts.succeeded).toBeGreaterThan(200)
    expect(failures).toEqual([])
    await chains.polygon.stop()
    const before = traffic.counts.succeeded
    await expect.poll(() => traffic.counts.succeeded).toBeGreaterThan(before + 20)
  } finally {
    await traffic.stop()
  }
})
