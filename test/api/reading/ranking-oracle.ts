import { addressOf } from '../../support/seed.ts'

const hourMs = 3_600_000
export const dayMs = 24 * hourMs
export const now = Date.now()
/** Agents 2 and 3 share an address; both of an agent's addresses pay as well. */
export const addresses: Record<number, readonly string[]> = {
  1: ['a1', 'b1'].map(addressOf),
  2: ['a2', 'shared'].map(addressOf),
  3: ['a3', 'shared'].map(addressOf),
  4: ['a4'].map(addressOf),
}

export interface Paid {
  readonly chain: 'base' | 'celo'
  readonly at: number
  readonly recipient: string
  readonly payer: string
  readonly amount: number
  readonly overload: boolean
}

const lengths = { '7d': 7 * dayMs, '30d': 30 * dayMs, all: now } as const
type Period = keyof typeof lengths
export const periods = Object.keys(lengths) as Period[]
/** Whether a settlement is in a window. */
const isIn = (period: Period, at: number) => at > now - lengths[period]
/** Whether income is, whose windows begin with a full hour. */
const isEarnedIn = (period: Period, at: number) => at >= Math.floor((now - lengths[period]) / hourMs) * hourMs
type Figure = 'settlements' | 'volume' | 'payers' | 'income' | 'income_n' | 'repeat_payers'

/** The ranking by its definition. `rows`: settlements that count; `final`: ones that may be income, of any selector. */
export function oracle(
  rows: readonly Paid[],
  final: readonly Paid[],
  asked: { period: Period; by: string; chain: string | null; excludeSelf: boolean },
) {
  const { period, by, chain, excludeSelf } = asked
  const figures = Object.entries(addresses).map(([fid, own]) => {
    const all = rows.filter(
      ({ recipient, payer, chain: on }) =>
        own.includes(recipient) && (chain === null || on === chain) && !(excludeSelf && own.includes(payer)),
    )
    const counted = all.filter(({ at }) => isIn(period, at))
    const others = final.filter(
      ({ recipient, payer, chain: on }) =>
        own.includes(recipient) && (chain === null || on === chain) && !own.includes(payer),
    )
    const earned = others.filter(({ at }) => isEarnedIn(period, at))
    // Settlements of nothing count next to others in one sum alone.
    const sumOf = ({ payer, recipient, chain: on, overload }: Paid) => `${payer} ${recipient} ${on} ${overload}`
    const worth = new Set(others.filter(({ amount }) => amount > 0).map(sumOf))
    const paid = others.filter((one) => worth.has(sumOf(one)))
    const timesOf = (payer: string) => paid.filter((one) => one.payer === payer).map(({ at }) => at)
    const repeat = [...new Set(paid.map(({ payer }) => payer))]
      .map(timesOf)
      .filter((times) => times.length > 1 && isEarnedIn(period, Math.max(...times)))
    return {
      fid: Number(fid),
      income_n: earned.length,
      income: earned.reduce((sum, { amount }) => sum + amount, 0),
      settlements: counted.length,
      volume: counted.reduce((sum, { amount }) => sum + amount, 0),
      payers: new Set(counted.map(({ payer }) => payer)).size,
      repeat_payers: repeat.length,
      newest: Math.max(...all.map(({ at }) => at)),
    }
  })
  const second = { income: ['income_n', 'settlements'], repeat_payers: ['income', 'income_n'] }[by]
  const order = [by, ...(second ?? ['settlements', 'volume'])] as Figure[]
  const needed = ({ income: 'income_n', repeat_payers: 'repeat_payers' } as Record<string, Figure>)[by] ?? 'settlements'
  return figures
    .filter((figure) => figure[needed] > 0)
    .sort((a, b) => order.reduce((sign, name) => sign || b[name] - a[name], 0) || a.fid - b.fid)
    .map(({ fid, settlements, volume, payers, newest, income_n, income, repeat_payers }, index) => ({
      rank: index + 1,
      fid,
      settlement_count: settlements,
      volume_usdc: volume / 1e6,
      unique_payers: payers,
      income_n,
      income_usdc: income / 1e6,
      repeat_payers,
      last_settlement_at: newest === Number.NEGATIVE_INFINITY ? null : new Date(newest).toISOString(),
    }))
}
