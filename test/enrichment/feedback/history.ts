import fc from 'fast-check'
import type pg from 'pg'
import {
  addressOf,
  birth,
  insert,
  seedPayment,
  seedRegistration,
  seedSettlement,
  seedVerification,
  seedWallet,
} from '../../support/seed.ts'
import { bytes, dollar, empty } from '../rollup/income-rows.ts'

// Random histories of who held what, verified which address and paid whom, and what feedback on a registration comes to
// by the rule: counted over the facts one by one.

const people = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'].map(addressOf)
const tokens = [1, 2]
const fids = [1, 2, 3]
const timeOf = (block: number) => new Date(birth.getTime() + block * 60_000)

const person = fc.integer({ min: 0, max: people.length - 1 })
const token = fc.constantFrom(...tokens)
const event = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('verify' as const), fid: fc.constantFrom(...fids), who: person }),
  },
  fc.record({ kind: fc.constant('unverify' as const), fid: fc.constantFrom(...fids), who: person }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('transfer' as const), token, who: person }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wallet' as const), token, who: fc.option(person) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('pay' as const),
      who: person,
      to: person,
      how: fc.constantFrom('vrs', 'bytes', 'permit2', 'nothing'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('approve' as const), token, who: fc.option(person) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('operator' as const),
      owner: person,
      who: person,
      approved: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('rate' as const), token, who: person }) },
)
/** What happened, one event a block. Both registrations are minted to addresses of agents first. */
export const history = fc
  .array(event, { minLength: 10, maxLength: 40 })
  .map((events) => [
    ...fids.map((fid) => ({ kind: 'verify' as const, fid, who: fid - 1 })),
    ...tokens.map((one) => ({ kind: 'transfer' as const, token: one, who: one - 1 })),
    { kind: 'pay' as const, who: 3, to: 0, how: 'bytes' },
    { kind: 'rate' as const, token: 1, who: 3 },
    ...events,
  ])
type History = typeof history extends fc.Arbitrary<infer T> ? T : never

export async function store(pool: pg.Pool, events: History): Promise<void> {
  await empty(pool)
  await pool.query('truncate feedback, registration, registration_metadata; delete from agent')
  const owner = new Map<number, number>()
  for (const [block, one] of events.entries()) {
    const at = timeOf(block)
    if (one.kind === 'verify' && !isVerified(events, one.fid, one.who, block))
      await seedVerification(pool, { fid: one.fid, address: people[one.who]!, verifiedAt: at })
    if (one.kind === 'unverify')
      await pool.query(
        'update verified_address set ended_at = $3 where fid = $1 and address = $2 and ended_at is null',
        [one.fid, bytes(people[one.who]!), at],
      )
    if (one.kind === 'transfer' && owner.get(one.token) !== one.who) {
      const from = owner.get(one.token)
      await insert(pool, 'registration_transfer', {
        id: `base-${block}`,
        chain: 'base',
        agent_id: one.token,
        from: from === undefined ? null : bytes(people[from]!),
        to: bytes(people[one.who]!),
        block_number: block,
        log_index: 0,
        block_timestamp: at,
        tx_hash: Buffer.alloc(32),
      })
      owner.set(one.token, one.who)
    }
    if (one.kind === 'wallet')
      await seedWallet(pool, { id: one.token, wallet: one.who === null ? null : people[one.who]!, block, at })
    if (one.kind === 'approve' || one.kind === 'operator') await nameOperator(pool, one, block, owner)
    if (one.kind === 'pay') await pay(pool, one, block)
    if (one.kind === 'rate')
      await insert(pool, 'feedback', {
        id: `${block}`,
        chain: 'base',
        agent_id: one.token,
        client: bytes(people[one.who]!),
        feedback_index: block,
        value: 1,
        value_decimals: 0,
        tag1: '',
        tag2: '',
        endpoint: '',
        feedback_uri: '',
        feedback_hash: Buffer.alloc(32),
        block_number: block,
        log_index: 0,
        block_timestamp: at,
        tx_hash: Buffer.alloc(32),
      })
  }
  for (const [id, who] of owner) {
    await seedRegistration(pool, { chain: 'base', id, owner: people[who]!, block: 1_000 })
    // What the holder set itself: no stranger sent it.
    await insert(pool, 'registration_metadata', {
      id: `base-${id}-set`,
      chain: 'base',
      agent_id: id,
      key: 'set',
      value: Buffer.alloc(1),
      block_number: 999,
      log_index: 0,
      block_timestamp: timeOf(999),
      tx_hash: Buffer.alloc(32),
    })
  }
  await pool.query('update chain_state set finalized_block = 1000, indexed_block = 1000')
}

/** An operator of an owner, or who the registration's holder approves for it. */
async function nameOperator(
  pool: pg.Pool,
  one: Extract<History[number], { kind: 'approve' | 'operator' }>,
  block: number,
  owner: ReadonlyMap<number, number>,
) {
  const place = {
    id: `base-${block}`,
    chain: 'base',
    block_number: block,
    log_index: 0,
    block_timestamp: timeOf(block),
    tx_hash: Buffer.alloc(32),
  }
  if (one.kind === 'operator')
    await insert(pool, 'registration_operator', {
      ...place,
      owner: bytes(people[one.owner]!),
      operator: bytes(people[one.who]!),
      approved: one.approved,
    })
  else
    await insert(pool, 'registration_approval', {
      ...place,
      agent_id: one.token,
      owner: bytes(people[owner.get(one.token)!]!),
      approved: one.who === null ? null : bytes(people[one.who]!),
    })
}

async function pay(pool: pg.Pool, { who, to, how }: { who: number; to: number; how: string }, block: number) {
  const shared = { block, at: timeOf(block), payer: people[who]! }
  if (how === 'permit2')
    await seedPayment(pool, { ...shared, kind: 'permit2_exact', payee: people[to]!, amount: 5n, token: dollar })
  else
    await seedSettlement(pool, {
      ...shared,
      chain: 'base',
      recipient: people[to]!,
      amount: how === 'nothing' ? 0n : 5n,
      ...(how === 'bytes' && { selector: '0xcf092995' }),
    })
}

interface Span {
  readonly fid: number
  readonly who: number
  readonly from: number
  readonly to: number
}
interface Holding extends Span {
  readonly token: number
  readonly isNow: boolean
}

/** Payers and recipients whose money goes round, as of the roll-up. */
export async function goingRound(pool: pg.Pool): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ payer: Buffer; recipient: Buffer }>('select payer, recipient from income_ring')
  const place = (address: Buffer) => people.indexOf(`0x${address.toString('hex')}`)
  return new Set(rows.map(({ payer, recipient }) => `${place(payer)} ${place(recipient)}`))
}

/**
 * What is to be said of each feedback, for each agent that holds the registration now, where money goes `round`. Operators change
 * nothing of it, but for what they paid while they were.
 */
export function expected(events: History, round: ReadonlySet<string>): string[] {
  const spans = fids.flatMap((fid) => people.flatMap((_, who) => verified(events, fid, who)))
  const held = tokens.flatMap((one) => holdings(events, one, spans))
  const liveNow = (fid: number, who: number) => spans.some((v) => v.fid === fid && v.who === who && v.to === Infinity)
  const wallets: Span[] = held
    .filter(({ fid, who }) => liveNow(fid, who))
    .flatMap((holding) =>
      named(events, holding.token)
        .filter((w) => w.at > holding.from && w.at < releaseOf(events, holding))
        .map((w) => ({ fid: holding.fid, who: w.who, from: w.at, to: Math.min(w.to, releaseOf(events, holding)) }))
        .filter((w) => w.from < w.to && !liveNow(w.fid, w.who)),
    )
  const isOwn = (fid: number, who: number, at: number) =>
    spans.some((v) => v.fid === fid && v.who === who) ||
    wallets.some((w) => w.fid === fid && w.who === who && w.from <= at) ||
    held.some((h) => h.fid === fid && moves(events, h.token).some((m) => m.who === who && m.at < h.from && m.at <= at))
  const said: string[] = []
  for (const now of held.filter(({ isNow }) => isNow)) {
    for (const [at, one] of events.entries()) {
      if (one.kind !== 'rate' || one.token !== now.token) continue
      const holders = held.filter((h) => h.token === one.token && h.from < at)
      const isHeld = holders.some(
        (h) => h.fid === now.fid && !moves(events, h.token).some((m) => m.at > h.from && m.at < at),
      )
      const isPast =
        !isHeld &&
        (named(events, one.token).some((w) => w.who === one.who && w.at < at) ||
          holders.some((h) => isOwn(h.fid, one.who, at)))
      const known = [...spans, ...wallets]
        .filter((s) => s.who === one.who && s.from <= at && s.to > at)
        .map(({ fid }) => fid)
        .sort(
          (a, b) =>
            Number(a !== now.fid) - Number(b !== now.fid) ||
            Number(!isAgent(held, a)) - Number(!isAgent(held, b)) ||
            a - b,
        )[0]
      const own = isOwn(now.fid, one.who, at)
      const isSelf = own || isPast || known === now.fid
      const kind = isSelf ? 'self' : known === undefined ? 'stranger' : isAgent(held, known) ? 'agent' : 'account'
      const isPaid = events.some(
        (p, then) =>
          p.kind === 'pay' &&
          p.how !== 'nothing' &&
          p.who === one.who &&
          then < at &&
          !isActing(events, p.who, then, { fid: now.fid, held, liveNow }) &&
          !round.has(`${p.who} ${p.to}`) &&
          (liveNow(now.fid, p.to) ||
            wallets.some((w) => w.fid === now.fid && w.who === p.to && w.from <= then && then < w.to)),
      )
      const fid = own ? now.fid : (known ?? null)
      said.push([now.fid, at, kind, fid, isPaid && !isSelf, !isHeld].join(' '))
    }
  }
  return [...new Set(said)].sort()
}

interface Known {
  readonly fid: number
  readonly held: readonly Holding[]
  readonly liveNow: (fid: number, who: number) => boolean
}

/** Whether somebody could act for an agent: named by an address of it, or approved for a registration that such a one held. */
function isActing(events: History, who: number, at: number, { fid, held, liveNow }: Known): boolean {
  const before = [...events.slice(0, at).entries()].reverse()
  const isNamed = people.some((_, owner) => {
    const word = before.find(([, one]) => one.kind === 'operator' && one.owner === owner && one.who === who)?.[1]
    return owner !== who && liveNow(fid, owner) && word?.kind === 'operator' && word.approved
  })
  const isApproved = tokens.some((token) => {
    const holding = held.find((h) => h.token === token && h.fid === fid && h.from < at && at < releaseOf(events, h))
    const [said, word] = before.find(([, one]) => one.kind === 'approve' && one.token === token) ?? []
    return holding && liveNow(fid, holding.who) && said! > holding.from && word?.kind === 'approve' && word.who === who
  })
  return isNamed || isApproved
}

const isAgent = (held: readonly Holding[], fid: number) => held.some((h) => h.fid === fid)

function isVerified(events: History, fid: number, who: number, before: number): boolean {
  return verified(events.slice(0, before), fid, who).some(({ to }) => to === Infinity)
}

function verified(events: History, fid: number, who: number): Span[] {
  const spans: Span[] = []
  for (const [at, one] of events.entries()) {
    if (one.kind !== 'verify' && one.kind !== 'unverify') continue
    if (one.fid !== fid || one.who !== who) continue
    const last = spans.at(-1)
    if (one.kind === 'verify' && last?.to !== Infinity) spans.push({ fid, who, from: at, to: Infinity })
    if (one.kind === 'unverify' && last?.to === Infinity) spans[spans.length - 1] = { ...last, to: at }
  }
  return spans
}

function moves(events: History, of: number): { at: number; who: number }[] {
  const found: { at: number; who: number }[] = []
  for (const [at, one] of events.entries())
    if (one.kind === 'transfer' && one.token === of && found.at(-1)?.who !== one.who) found.push({ at, who: one.who })
  return found
}

const releaseOf = (events: History, { token: of, from }: Holding) =>
  moves(events, of).find(({ at }) => at > from)?.at ?? Infinity

/** Wallets of a registration, each until the next word on it; a transfer has none of its own here. */
function named(events: History, of: number): { at: number; who: number; to: number }[] {
  const words = [...events.entries()].flatMap(([at, one]) =>
    one.kind === 'wallet' && one.token === of ? [{ at, who: one.who }] : [],
  )
  return words.flatMap(({ at, who }, place) =>
    who === null ? [] : [{ at, who, to: words[place + 1]?.at ?? Infinity }],
  )
}

/** Holdings of the accounts: of an address that verified the account before it lost the registration, or while it came. */
function holdings(events: History, of: number, spans: readonly Span[]): Holding[] {
  return moves(events, of).flatMap(({ at, who }, place, all) =>
    fids.flatMap((fid) => {
      const its = spans.filter((v) => v.fid === fid && v.who === who)
      const isLive = its.some(({ to }) => to === Infinity)
      if (!isLive && !its.some(({ to }) => to > at)) return []
      return [{ fid, who, token: of, from: at, to: 0, isNow: isLive && place === all.length - 1 }]
    }),
  )
}
