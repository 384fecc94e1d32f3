import { keccak256, type LocalAccount, toBytes } from 'viem'
import { accountOf, type DevChain } from '../../devnet/chain/chain.ts'
import * as identity from '../../devnet/chain/identity.ts'
import {
  aggregate,
  mint,
  pay,
  payInColumns,
  pull,
  signAuthorization,
  withTrailer,
} from '../../devnet/chain/payments.ts'
import { type Act, type Branch, type Fork, forkHere } from '../support/chain/branches.ts'
import { allowProxy, payByProxy } from '../support/chain/permit2.ts'

const holders = ['first', 'second', 'third'].map((name) => accountOf(`${name} holder of the traffic`))
const payers = ['first', 'second'].map((name) => accountOf(`${name} payer of the traffic`))
const broadcaster = accountOf('broadcaster of the traffic')

/** Everybody who sends a transaction in the traffic. */
export const trafficAddresses = [...holders, ...payers, broadcaster].map(({ address }) => address)

/** Identities that every branch moves: 0 to 2, one of each holder. */
const movedIds = [0n, 1n, 2n]
const purse = 1_000_000_000n // base units
const batchGas = 20_000_000n
/** Builder code that a large facilitator appends: {"w": "cdp_facil1"} in CBOR, and the marker of ERC-8021 schema 2. */
const codes = `0xa161776a6364705f666163696c31000e02${'8021'.repeat(8)}` as const

/** The state all traffic starts from: three identities with feedback, and payers with dollars. */
export async function prepareTraffic(chain: DevChain): Promise<void> {
  for (const { from, call } of preparation(chain).flat()) await chain.execute(from, call)
}

/** The transactions of `prepareTraffic` as blocks; they are identical on every chain with the same genesis. */
export function preparation(chain: DevChain): Branch {
  const tokens = chain.addresses.token ? [undefined, chain.addresses.bridgedToken] : []
  return [
    holders.map((from, index) => ({ from, call: identity.register(`data:,identity ${index}`) })),
    [
      ...movedIds.map((agentId) => ({ from: broadcaster, call: identity.giveFeedback({ agentId, value: 1n }) })),
      ...payers.flatMap(({ address }) =>
        tokens.map((token) => ({ from: broadcaster, call: mint(chain, address, purse, token) })),
      ),
      ...(tokens.length > 0 ? payers.map((from) => ({ from, call: allowProxy(chain) })) : []),
    ],
  ]
}

/**
 * Blocks that touch every chain table in every way: new rows, changed rows, identities that go to other holders on
 * other branches, and a transaction that reverts. The same name gives the same blocks. `isBusy`: whether a block has
 * traffic, by its index in the branch; the others are empty.
 */
export async function trafficBranch(
  chain: DevChain,
  name: string,
  blocks: number,
  isBusy = (_block: number) => true,
): Promise<Branch> {
  const branch: (readonly Act[])[] = []
  for (let block = 0; block < blocks; block++) {
    branch.push(isBusy(block) ? await trafficBlock(chain, `${name} ${block}`, block) : [])
  }
  return branch
}

/** `kept`: blocks that a round adds for good; `replaced`: blocks on top of them, which the next round replaces. */
interface Round {
  readonly kept: number
  readonly replaced: number
}

/** Replaces the tip of the round before, and adds blocks of its own; resolves with the fork below the new tip. */
export async function growTraffic(chain: DevChain, tip: Fork, name: string, { kept, replaced }: Round): Promise<Fork> {
  // A node that is polled shows another branch only once it is longer.
  await tip.mine(await trafficBranch(chain, `${name} kept`, kept + replaced + 1))
  const fork = await forkHere(chain)
  if (replaced > 0) await fork.mine(await trafficBranch(chain, `${name} replaced`, replaced))
  return fork
}

async function trafficBlock(chain: DevChain, seed: string, block: number): Promise<Act[]> {
  const pick = pickerOf(seed)
  const payments = chain.addresses.token ? await paymentActs(chain, seed, pick(payers)) : []
  return [
    { from: broadcaster, call: identity.registerMany([`data:,${seed}`], pick(holders).address) },
    { from: broadcaster, call: identity.giveFeedback({ agentId: pick(movedIds), value: BigInt(block), tag1: seed }) },
    { from: broadcaster, call: identity.revokeFeedback(pick(movedIds), 1n) },
    { from: broadcaster, call: identity.appendResponse(pick(movedIds), broadcaster.address, 1n, seed) },
    ...movingActs(seed, pick(movedIds), pick(holders)),
    ...payments,
  ]
}

/** Acts by every possible holder: those of the present holder succeed, the others revert. */
function movingActs(seed: string, agentId: bigint, to: LocalAccount): Act[] {
  return holders.flatMap((from) => [
    { from, call: identity.setAgentUri(agentId, `data:,${seed}`) },
    { from, call: identity.setMetadata(agentId, { key: 'seed', value: keccak256(toBytes(seed)) }) },
    { from, call: identity.approveOperator(agentId, to.address) },
    { from, call: identity.setOperator(to.address, seed.length % 2 === 0) },
    { from, call: identity.transferIdentity(agentId, from.address, to.address) },
  ])
}

async function paymentActs(chain: DevChain, seed: string, payer: LocalAccount): Promise<Act[]> {
  const authorize = (use: string, request: { to?: LocalAccount['address']; kind?: 'receive' | 'approve' } = {}) =>
    signAuthorization(chain, payer, {
      to: broadcaster.address,
      value: BigInt(seed.length),
      nonce: keccak256(toBytes(`${seed} ${use}`)),
      token: request.kind === 'approve' ? chain.addresses.bridgedToken : undefined,
      ...request,
    })
  const direct = await authorize('direct')
  const batched = await authorize('batched')
  const built = await authorize('built')
  const drawn = await authorize('drawn', { to: chain.addresses.puller, kind: 'receive' })
  const approval = await authorize('approval', { kind: 'approve' })
  const calls = [
    withTrailer(pay(direct), codes),
    aggregate(chain, [pay(batched, 'bytes')]),
    payInColumns(chain, [built]),
  ]
  calls.push(pull(chain, drawn, broadcaster.address), pay(approval))
  const nonce = BigInt(keccak256(toBytes(`${seed} permitted`)))
  calls.push(
    withTrailer(payByProxy(chain, { owner: payer.address, to: broadcaster.address, amount: 1n, nonce }), codes),
  )
  return calls.map((call) => ({ from: broadcaster, call, options: { gas: batchGas } }))
}

/** A deterministic random picker of list items, seeded by a text. */
function pickerOf(text: string) {
  let choices = 0
  return <T>(from: readonly T[]): T => {
    const hash = BigInt(keccak256(toBytes(`${text} choice ${choices++}`)))
    return from[Number(hash % BigInt(from.length))] as T
  }
}
