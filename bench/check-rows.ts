import type pg from 'pg'
import { busiestChain } from '../config/chains.ts'
import type { Block } from '../test/doubles/portal/blocks.ts'
import type { PaymentChain } from './payment-chain.ts'

/** Compares every stored row with the generated chain, throws at a difference, and returns the number of rows. */
export async function checkRows(client: pg.ClientBase, chain: PaymentChain): Promise<number> {
  await client.query(`begin`)
  await client.query(`declare held cursor for
    select concat_ws(' ', block_number, log_index, extract(epoch from block_timestamp)::bigint, amount, encode(selector, 'hex'),
                     encode(payer, 'hex'), encode(recipient, 'hex'), encode(facilitator, 'hex'),
                     encode(payment_nonce, 'hex'), encode(tx_hash, 'hex')) as text
      from settlement where chain = '${busiestChain}' and block_number between ${chain.firstBlock} and ${chain.lastBlock}
     order by block_number, log_index`)
  let held: string[] = []
  let at = 0
  let checked = 0
  for (const block of chain.source.blocks(chain.firstBlock, chain.lastBlock) as Iterable<Block>) {
    for (const expected of chain.expected(block)) {
      if (at === held.length) {
        const { rows } = await client.query<{ text: string }>('fetch 20000 from held')
        held = rows.map(({ text }) => text)
        at = 0
      }
      if (held[at++] !== expected) throw new Error(`a row is\n${held[at - 1]}\ninstead of\n${expected}`)
      checked++
    }
  }
  const { rows } = await client.query('fetch 1 from held')
  await client.query('commit')
  if (at < held.length || rows.length > 0) throw new Error('there are more rows than the chain holds')
  return checked
}
