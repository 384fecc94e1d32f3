/** SQL over an endpoint `w` and an event, whose columns are these expressions. */
interface EventColumns {
  readonly type: string
  /** Null: it names no chain. */
  readonly chain: string
  /** Dollars of its payment. Null: it is of none. */
  readonly amount: string
}

/** Whether an endpoint wants such events, whoever's they are. */
export const wantsSuch = ({ type, chain, amount }: EventColumns) =>
  `${type} = any (w.types)
   and (w.chains is null or ${chain} is null or ${chain} = any (w.chains))
   and (w.min_amount is null or ${amount} is null or ${amount} >= w.min_amount)`

/** Columns of a row `e` of webhook_event. */
export const stored: EventColumns = {
  type: 'e.type',
  chain: `(e.data->>'chain')`,
  amount: `(e.data->>'amount_usdc')::numeric`,
}
