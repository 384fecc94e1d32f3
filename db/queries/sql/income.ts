// What income means, over a payment: a relation with the columns recipient, chain, payer, facilitator and
// block_timestamp. Arguments are SQL expressions written in this folder, never values.

/** Kinds of payment, by whether the signature was taken as bytes. */
export const incomeKind = (overload: string) => `case when ${overload} then 'eip3009_bytes' else 'eip3009_vrs' end`

/** A statement: the agents whose income a payment is, each once. */
export const paidAgents = (payment: string) => `
     select distinct i.fid
       from income_address i
      where i.address = ${payment}.recipient and i.chain in ('', ${payment}.chain)
        and i.from_at <= ${payment}.block_timestamp and ${payment}.block_timestamp < i.to_at`

/** What the payer is to the agent, the first that holds. */
export const incomeFlag = (fid: string, payment: string) => `case
           when ${payment}.payer = ${payment}.recipient then 'self'
           when exists (select from income_owner o where o.fid = ${fid} and o.address = ${payment}.payer) then 'same_owner'
           else 'none' end`

/** Whether a known facilitator sent it. */
export const isEvidenced = (payment: string) =>
  `exists (select from facilitator_sender f where f.address = ${payment}.facilitator)`
