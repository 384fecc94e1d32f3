import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dollarAbi } from '../../../devnet/chain/abi.ts'
import { type DevChain, startDevChain } from '../../../devnet/chain/chain.ts'
import { type Channel, claimFromChannels, fillChannel, refundChannel } from '../../../devnet/chain/channels.ts'
import {
  authorizePayment,
  capturePayment,
  type EscrowPayment,
  escrowOf,
  refundPayment,
  returnPayment,
} from '../../../devnet/chain/escrows.ts'
import { completeJob, createJob, fundJob, refundJob } from '../../../devnet/chain/jobs.ts'
import { mint, pay } from '../../../devnet/chain/payments.ts'
import { castAddresses, type Stage, setStage } from '../../chain/cases/settlement-case.ts'
import { type Act, forkHere } from '../../support/chain/branches.ts'
import { type ChainIndex, cleanTables, indexChain, untilSame } from '../../support/chain/index-chain.ts'
import { dollarOf } from '../../support/chain/permit2.ts'

const finality = 30
/** Of its tokens: with so many every settlement and payment has an exact amount too. */
const decimals = 7
const options = { finality, decimals }
let chain: DevChain
let stage: Stage
let index: ChainIndex

beforeAll(async () => {
  chain = await startDevChain('base', { funded: castAddresses })
  stage = await setStage(chain)
  const { facilitator } = stage
  await chain.execute(facilitator, mint(chain, facilitator.address, 1_000n, dollarOf(chain)))
  for (const [owner, spender] of [
    [facilitator, escrowOf(chain)],
    [stage.otherPayer, chain.addresses.jobs],
  ] as const) {
    const data = encodeFunctionData({ abi: dollarAbi, functionName: 'approve', args: [spender, 1_000n] })
    await chain.execute(owner, { to: dollarOf(chain), data })
  }
  index = await indexChain(chain, options)
  await index.untilHead()
})
afterAll(async () => {
  await index?.close()
  await chain?.stop()
})

const exact = async () =>
  (await index.database.pool.query('select count(*)::int as n from exact_amount')).rows[0].n as number

test('refunds, claims and payments of jobs that a reorg takes away leave nothing, nor do their exact amounts', async () => {
  const { payer, otherPayer, merchant, facilitator, authorize } = stage
  const { depositCollector } = chain.addresses
  const people = { operator: facilitator.address, payer: payer.address, receiver: merchant.address }
  const payment: EscrowPayment = { ...people, token: dollarOf(chain), salt: 1n }
  const channel: Channel = { payer: payer.address, receiver: merchant.address, token: dollarOf(chain) }
  const draw = (value: bigint) => authorize(payer, { to: depositCollector, value, kind: 'receive' })
  const by = (from: Act['from'], ...calls: Act['call'][]) => calls.map((call) => ({ from, call }))
  const funded = [
    by(facilitator, authorizePayment(chain, payment, await draw(100n)), fillChannel(chain, await draw(90n), channel)),
    by(otherPayer, createJob(chain, merchant.address, dollarOf(chain)), fundJob(chain, 1n, 50n)),
  ]
  const settled = pay(await authorize(payer, { to: merchant.address, value: 12n }))
  const paid = by(
    facilitator,
    capturePayment(chain, payment, 40n),
    claimFromChannels(chain, [{ channel, total: 30n }]),
    completeJob(chain, 1n, 20n),
    settled,
  )
  const refunded = by(
    facilitator,
    refundPayment(chain, payment, 15n),
    refundJob(chain, 1n),
    refundChannel(chain, channel, 5n),
  )
  const isClean = async () => untilSame(index, chain, await cleanTables(chain, options))

  const fork = await forkHere(chain)
  await fork.mine([...funded, paid, refunded])
  await index.untilHead()
  const before = await exact()
  expect(before).toBeGreaterThan(10)
  const { payment: rows } = await index.tables()
  expect(rows.length).toBeGreaterThan(10)

  // What was paid stays, and is not refunded; the job is paid in two parts, and the payer takes back what is held.
  await fork.mine([
    ...funded,
    paid,
    by(facilitator, completeJob(chain, 1n, 30n)),
    by(payer, returnPayment(chain, payment, 'reclaim')),
  ])
  await isClean()
  // Of all of it only the settlement is left, in another block.
  await fork.mine([[], by(facilitator, settled), [], [], [], []])
  await isClean()
  expect(await exact()).toBe(1)
  await fork.mine([...funded, paid, refunded, [], [], []])
  await isClean()
  expect(await exact()).toBe(before)
}, 400_000)
