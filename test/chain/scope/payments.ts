import { type Address, keccak256, toBytes } from 'viem'
import { accountOf, type DevChain, funder } from '../../../devnet/chain/chain.ts'
import {
  aggregate,
  mint,
  pay,
  payInColumns,
  pull,
  signAuthorization,
  transferDollars,
} from '../../../devnet/chain/payments.ts'
import type { Act } from '../../support/chain/branches.ts'

/** The account that signs all authorizations and sends all transactions of these tests. */
export const payer = accountOf('payer of the scope')

export async function preparePayer(chain: DevChain): Promise<void> {
  await chain.execute(funder, mint(chain, payer.address, 1_000_000_000n))
}

/** Payments to an address: a settlement by each kind of call, one drawn by a contract, and a plain transfer. */
export async function paymentActs(chain: DevChain, name: string, to: Address): Promise<Act[]> {
  const authorize = (use: string, request: object = {}) =>
    signAuthorization(chain, payer, { to, value: 5n, nonce: keccak256(toBytes(`${name} ${to} ${use}`)), ...request })
  const [direct, bytes, batched, built] = await Promise.all(
    ['direct', 'bytes', 'batched', 'built'].map((use) => authorize(use)),
  )
  const drawn = await authorize('drawn', { to: chain.addresses.puller, kind: 'receive' })
  return [
    pay(direct!),
    pay(bytes!, 'bytes'),
    aggregate(chain, [pay(batched!)]),
    payInColumns(chain, [built!]),
    pull(chain, drawn, to),
    transferDollars(chain, to, 7n),
  ].map((call) => ({ from: payer, call }))
}
