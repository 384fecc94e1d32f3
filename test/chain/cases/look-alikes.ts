import { type Address, encodeAbiParameters, encodeEventTopics, type Hex, pad } from 'viem'
import { channelsAbi, commerceEscrowAbi, jobsAbi } from '../../../devnet/chain/abi.ts'
import { aggregate, mint } from '../../../devnet/chain/payments.ts'
import { dollarOf } from '../../support/chain/permit2.ts'
import type { SettlementCase, Stage } from './settlement-case.ts'

/** Code that logs what it is called with: two or three topics, a word each, and the rest as data. */
const logger = {
  2: '0x60403603806040600037602035600035826000a200',
  3: '0x60603603806060600037604035602035600035836000a300',
} as const satisfies Record<number, Hex>
const loggerAt = (topics: keyof typeof logger) => pad(`0x${topics}`, { size: 20 }).replace('0x00', '0xfa') as Address

/** A call of a contract that nobody has configured, which logs the topics and the data. */
async function logCall({ chain }: Stage, topics: readonly unknown[], data: Hex) {
  const count = topics.length as keyof typeof logger
  await chain.client.setCode({ address: loggerAt(count), bytecode: logger[count] })
  return { to: loggerAt(count), data: `0x${[...topics, data].map((word) => String(word).slice(2)).join('')}` as Hex }
}

const uints = (...values: bigint[]) =>
  encodeAbiParameters(
    values.map(() => ({ type: 'uint256' }) as const),
    values,
  )

const nothing = { settlements: [] }

/** What contracts log that look like those of the chain table, and are not: no row, no income. */
export const lookAlikeCases: SettlementCase[] = [
  {
    name: 'a claim that a stranger’s contract logs is nothing, though money moves next to it',
    async act(stage) {
      const { chain, facilitator, merchant } = stage
      const topics = encodeEventTopics({
        abi: channelsAbi,
        eventName: 'Claimed',
        args: { channelId: pad('0x01'), sender: merchant.address },
      })
      const calls = [mint(chain, merchant.address, 5n, dollarOf(chain)), await logCall(stage, topics, uints(5n, 5n))]
      return { hash: await chain.send(facilitator, aggregate(chain, calls)), ...nothing }
    },
  },
  {
    name: 'a capture that a stranger’s contract logs is nothing, nor is a refund',
    async act(stage) {
      const { chain, facilitator } = stage
      const name = { paymentInfoHash: pad('0x02') }
      const captured = encodeEventTopics({ abi: commerceEscrowAbi, eventName: 'PaymentCaptured', args: name })
      const refunded = encodeEventTopics({ abi: commerceEscrowAbi, eventName: 'PaymentRefunded', args: name })
      const calls = [
        await logCall(stage, captured, uints(10n ** 30n, 0n, 0n)),
        await logCall(stage, refunded, uints(10n ** 30n, 0n)),
      ]
      return { hash: await chain.send(facilitator, aggregate(chain, calls)), ...nothing }
    },
  },
  {
    name: 'a job that a stranger’s contract pays is nothing',
    async act(stage) {
      const { chain, facilitator, merchant } = stage
      const args = { jobId: 1n, provider: merchant.address }
      const topics = encodeEventTopics({ abi: jobsAbi, eventName: 'PaymentReleased', args })
      const calls = [mint(chain, merchant.address, 5n, dollarOf(chain)), await logCall(stage, topics, uints(5n))]
      return { hash: await chain.send(facilitator, aggregate(chain, calls)), ...nothing }
    },
  },
]
