import type { Mark } from './mark.ts'

// Agents whose payers are others, or are something else to them: marks of the kind `demand`.

/** Of the agents whose income an address is, or was. */
const incomeOf = (address: string) => ({ key: 'i.fid', from: `moved join income_address i on i.address = ${address}` })

/**
 * Whatever is paid moves an hour of income, once its block is rolled up; that the same is paid by somebody else does not,
 * nor does who is a payer by payments that are no income of an hour yet.
 */
export const paidAgentMarks: readonly Mark[] = [
  { table: 'income_address', key: 'fid' },
  { table: 'income_owner', key: 'fid' },
  { table: 'income_hour', key: 'fid' },
  { table: 'settlement_payer', ...incomeOf('moved.recipient') },
  { table: 'payment', on: ['insert', 'delete'], ...incomeOf('moved.payee') },
  { table: 'income_ring', on: ['insert', 'delete'], ...incomeOf('moved.recipient') },
]
