import { type Address, type Hex, type Log, parseEventLogs, zeroAddress } from 'viem'
import { channelsAbi, commerceEscrowAbi, dollarAbi, jobsAbi } from '../../../devnet/chain/abi.ts'
import type { DevChain } from '../../../devnet/chain/chain.ts'

/** Agents whose income is added up: lowercase addresses by agent name. */
type Agents = Readonly<Record<string, readonly string[]>>

interface Move {
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly logIndex: number
}
type EscrowKind = 'escrow_charge' | 'escrow_capture' | 'escrow_refund'
interface Got extends Move {
  readonly kind:
    | 'settlement'
    | 'permit2_exact'
    | 'permit2_upto'
    | 'forwarded'
    | 'batch_claim'
    | 'job_release'
    | EscrowKind
  /** Addresses that the money passed in the transaction, after the payer. */
  readonly through: readonly string[]
}

/**
 * Income by the rules, computed from the logs of a local chain alone: for each agent and for `all`, by kind, the number
 * of payments and base units of listed dollars. Settlements are one kind, as logs do not show their selectors.
 */
export async function incomeOfLogs(chain: DevChain, agents: Agents): Promise<Record<string, Record<string, string>>> {
  const { token, bridgedToken, permit2Proxy, uptoProxy } = chain.addresses
  const listed = [token, bridgedToken].map((address) => String(address).toLowerCase())
  const proxies = new Map([
    [String(permit2Proxy).toLowerCase(), 'permit2_exact' as const],
    [String(uptoProxy).toLowerCase(), 'permit2_upto' as const],
  ])
  const logs = await chain.client.getLogs({ fromBlock: 0n, toBlock: 'latest' })
  const byTransaction = new Map<unknown, Log[]>()
  for (const log of logs) {
    const { transactionHash } = log
    byTransaction.set(transactionHash, [...(byTransaction.get(transactionHash) ?? []), log])
  }
  const escrow = lower(chain.addresses.commerceEscrow as Address)
  const got: Got[] = [
    ...claimedIn(logs, lower(chain.addresses.channels as Address)),
    ...escrowedIn(logs, escrow),
    ...releasedIn(logs, lower(chain.addresses.jobs)),
  ]
  for (const [hash, one] of byTransaction) {
    const { input } = await chain.client.getTransaction({ hash: hash as Hex })
    got.push(...gotIn(one, listed, proxies, input, lower(chain.addresses.channels as Address), escrow))
  }
  const sums: Record<string, Record<string, [number, bigint]>> = {}
  const add = (name: string, { kind, token: paidIn, amount }: Got) => {
    const kinds = sums[name] ?? {}
    sums[name] = kinds
    const [count, sum] = kinds[kind] ?? [0, 0n]
    kinds[kind] = [count + (kind === 'escrow_refund' ? 0 : 1), sum + (listed.includes(paidIn) ? amount : 0n)]
  }
  const own = Object.entries(agents)
  for (const one of got) {
    for (const [name, addresses] of own) {
      if (!addresses.includes(one.to) || one.through.some((hand) => addresses.includes(hand))) continue
      add(name, one)
      if (!one.through.some((hand) => own.some(([, others]) => others.includes(hand)))) add('all', one)
    }
  }
  const told = (kinds: Record<string, [number, bigint]>) =>
    Object.fromEntries(Object.entries(kinds).map(([kind, [count, sum]]) => [kind, `${count}: ${sum}`]))
  return Object.fromEntries(Object.entries(sums).map(([name, kinds]) => [name, told(kinds)]))
}

/** Base units that the channels hold for some receivers, claimed ones not among them, as the contract says. */
export async function heldByChannels(chain: DevChain, receivers: readonly string[]): Promise<bigint> {
  const address = chain.addresses.channels as Address
  const logs = await chain.client.getLogs({ address, fromBlock: 0n, toBlock: 'latest' })
  const created = parseEventLogs({ abi: channelsAbi, eventName: 'ChannelCreated', logs })
  const theirs = created.filter(({ args }) => receivers.includes(lower(args.config.receiver)))
  const read = (functionName: 'balance' | 'claimed', id: Hex) =>
    chain.client.readContract({ address, abi: channelsAbi, functionName, args: [id] })
  let held = 0n
  for (const id of new Set(theirs.map(({ args }) => args.channelId))) {
    held += (await read('balance', id)) - (await read('claimed', id))
  }
  return held
}

/** Base units that the escrow holds for some receivers, as the contract says. */
export async function heldByEscrow(chain: DevChain, receivers: readonly string[]): Promise<bigint> {
  const address = chain.addresses.commerceEscrow as Address
  const logs = await chain.client.getLogs({ address, fromBlock: 0n, toBlock: 'latest' })
  const authorized = parseEventLogs({ abi: commerceEscrowAbi, eventName: 'PaymentAuthorized', logs })
  const theirs = authorized.filter(({ args }) => receivers.includes(lower(args.paymentInfo.receiver)))
  let held = 0n
  for (const id of new Set(theirs.map(({ args }) => args.paymentInfoHash))) {
    held += await chain.client.readContract({ address, abi: commerceEscrowAbi, functionName: 'capturable', args: [id] })
  }
  return held
}

/** What an escrow paid receivers and took back, by the terms that were told when it got the money. */
function escrowedIn(logs: readonly Log[], escrow: string): Got[] {
  const events = parseEventLogs({
    abi: commerceEscrowAbi,
    logs: logs.filter(({ address }) => lower(address) === escrow),
  })
  const terms = new Map(
    events.flatMap(({ args }) => ('paymentInfo' in args ? [[args.paymentInfoHash, args.paymentInfo]] : [])),
  )
  return events.flatMap(({ eventName, args, logIndex }): Got[] => {
    const { payer, receiver, token } = terms.get(args.paymentInfoHash) as Record<
      'payer' | 'receiver' | 'token',
      Address
    >
    const move = {
      token: lower(token),
      from: lower(payer),
      to: lower(receiver),
      logIndex: Number(logIndex),
      through: [],
    }
    if (eventName === 'PaymentRefunded') return [{ ...move, amount: -args.amount, kind: 'escrow_refund' }]
    if (!('feeAmount' in args) || args.amount === args.feeAmount) return []
    const kind = eventName === 'PaymentCharged' ? 'escrow_charge' : 'escrow_capture'
    return [{ ...move, amount: args.amount - args.feeAmount, kind }]
  })
}

/** What jobs paid, in the token that they were funded in, as the test lets no job change it. */
function releasedIn(logs: readonly Log[], jobs: string): Got[] {
  const events = parseEventLogs({ abi: jobsAbi, logs: logs.filter(({ address }) => lower(address) === jobs) })
  const transfers = parseEventLogs({ abi: dollarAbi, eventName: 'Transfer', logs: [...logs] })
  const funded = new Map<bigint, { token: string; client: string }>()
  return events.flatMap((event): Got[] => {
    const { args, logIndex } = event
    if (args.amount === 0n) return []
    if (event.eventName === 'JobFunded') {
      const moved = transfers.find(
        (one) => one.transactionHash === event.transactionHash && lower(one.args.to) === jobs,
      )
      funded.set(args.jobId, { token: lower(moved?.address as Address), client: lower(event.args.client) })
    }
    if (event.eventName !== 'PaymentReleased') return []
    const { token, client } = funded.get(args.jobId) as { token: string; client: string }
    const move = { token, from: client, to: lower(event.args.provider), amount: args.amount }
    return [{ ...move, logIndex: Number(logIndex), kind: 'job_release', through: [] }]
  })
}

/** What was claimed from channels, each of which was told of whole when it was created. */
function claimedIn(logs: readonly Log[], channels: string): Got[] {
  const events = parseEventLogs({ abi: channelsAbi, logs: logs.filter(({ address }) => lower(address) === channels) })
  const created = new Map(
    events.flatMap(({ eventName, args }) => (eventName === 'ChannelCreated' ? [[args.channelId, args.config]] : [])),
  )
  return events.flatMap(({ eventName, args, logIndex }) => {
    if (eventName !== 'Claimed') return []
    const { payer, payerAuthorizer, receiver, token } = created.get(args.channelId) as {
      payer: Address
      payerAuthorizer: Address
      receiver: Address
      token: Address
    }
    const signer = payerAuthorizer === zeroAddress || payer === receiver ? payer : payerAuthorizer
    const move = { token: lower(token), from: lower(signer), to: lower(receiver), amount: args.claimAmount }
    return [{ ...move, logIndex: Number(logIndex), kind: 'batch_claim' as const, through: [] }]
  })
}

const lower = (address: Address) => address.toLowerCase()

/** Whether token, owner and recipient stand in calldata as consecutive words, as in a call of a proxy. */
function names(input: string, { token, from, to }: Move): boolean {
  const [paid, by, whom] = [token, from, to].map((address) => `${'0'.repeat(24)}${address.slice(2)}`)
  return new RegExp(`${paid}.{192,256}${by}${whom}`).test(input)
}

/** Income in one transaction, by its logs in order, and by its calldata where the logs leave it open. */
function gotIn(
  logs: readonly Log[],
  listed: readonly string[],
  proxies: ReadonlyMap<string, Got['kind']>,
  input: string,
  channels: string,
  escrow: string,
): Got[] {
  const moves: Move[] = parseEventLogs({ abi: dollarAbi, eventName: 'Transfer', logs: [...logs] }).map(
    ({ address, args, logIndex }) => ({
      token: lower(address),
      from: lower(args.from),
      to: lower(args.to),
      amount: args.value,
      logIndex: Number(logIndex),
    }),
  )
  const taken = new Set<Move>()
  const got: Got[] = []
  // The log of an executed authorization is followed directly by its transfer.
  for (const { address, args, logIndex } of parseEventLogs({
    abi: dollarAbi,
    eventName: 'AuthorizationUsed',
    logs: [...logs],
  })) {
    const move = moves.find((one) => one.logIndex === Number(logIndex) + 1 && one.token === lower(address))
    if (!listed.includes(lower(address)) || !move || move.from !== lower(args.authorizer)) continue
    taken.add(move)
    got.push({ ...move, kind: 'settlement', through: [] })
  }
  // An escrow tells first what it pays out, which its own sums count.
  for (const { args, logIndex } of parseEventLogs({
    abi: commerceEscrowAbi,
    logs: logs.filter(({ address }) => lower(address) === escrow),
  })) {
    if (!('feeAmount' in args)) continue
    const net = args.amount - args.feeAmount
    const move = moves.find((one) => one.logIndex > Number(logIndex) && one.amount === net && !taken.has(one))
    if (move) taken.add(move)
  }
  // A proxy logs only that it paid, after the transfer.
  let behind = -1
  for (const { address, logIndex } of logs) {
    const kind = proxies.get(lower(address))
    if (!kind) continue
    const free = moves.filter((one) => one.logIndex < Number(logIndex) && one.logIndex > behind && !taken.has(one))
    const move = free.findLast((one) => names(input, one)) ?? free.at(-1)
    behind = Number(logIndex)
    if (!move) continue
    taken.add(move)
    got.push({ ...move, kind, through: [] })
  }
  const passOn = ({ to, token, amount, logIndex, through }: Got, payer: string) => {
    const parts = moves.filter(
      (one) => one.logIndex > logIndex && one.from === to && one.token === token && !taken.has(one) && to !== channels,
    )
    const sum = parts.reduce((total, part) => total + part.amount, 0n)
    if (sum > amount || sum * 2n < amount || sum === 0n) return
    for (const part of parts) taken.add(part)
    const hands = [...through, to]
    const onward = parts.filter((part) => part.to !== payer && !hands.includes(part.to))
    for (const part of onward.toReversed()) {
      const next: Got = { ...part, kind: 'forwarded', through: hands }
      got.push(next)
      passOn(next, payer)
    }
  }
  for (const paid of [...got].sort((a, b) => b.logIndex - a.logIndex)) passOn(paid, paid.from)
  return got
}
