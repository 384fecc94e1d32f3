import { isListed } from './selectors.ts'

/** SQL expressions, never values. */
interface Paid {
  /** An array of recipients. */
  readonly addresses: string
  /** A boolean: who used an overload with a signature in bytes is one too. */
  readonly overloads: string
  /** Payments after it alone; null: since the first block. */
  readonly since: string | null
}

/** A statement with everybody who paid any of the addresses, once, and the time of the newest payment: payer, last_at. */
export function payersOf({ addresses, overloads, since }: Paid): string {
  const after = (time: string) => (since === null ? 'true' : `${time} > ${since}`)
  return `
    select payer, max(last_at) as last_at
      from (select p.payer, p.last_at
              from settlement_payer p
             where p.recipient = any (${addresses}) and (${overloads} or not p.overload) and ${after('p.last_at')}
             union all
            select s.payer, s.block_timestamp
              from unnest(${addresses}) as recipient (address)
             cross join settlement_unrolled u
             cross join lateral (
               select s.payer, s.block_timestamp
                 from settlement s
                where s.recipient = recipient.address and s.chain = u.chain
                  and s.block_number between u.from_block and u.to_block
                  and (${overloads} or ${isListed('s.selector')}) and ${after('s.block_timestamp')}
               offset 0
             ) s) payment
     group by payer`
}
