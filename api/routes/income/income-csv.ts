import { z } from 'zod'
import { type ChainName, chainOf } from '../../../config/chains.ts'
import { grouped, incomeLimits } from '../../../config/limits.ts'
import { agentExists } from '../../../db/queries/agents/agents.ts'
import { countedIncomePayments, incomePayments as readPayments } from '../../../db/queries/income/payments.ts'
import { invalidRequest } from '../../http/errors.ts'
import { askable } from '../../http/filter-parameters.ts'
import { route } from '../../http/route.ts'
import type { IncomePayment } from '../../schemas/income/income.ts'
import { incomeFilters, paymentsOfAgent } from './payments.ts'

const columns = [
  'block_timestamp',
  'chain',
  'block_number',
  'log_index',
  'tx_hash',
  'payer_address',
  'recipient_address',
  'token_address',
  'amount_usdc',
  'kind',
  'flag',
  'facilitator_address',
  'facilitator_name',
  'x402_evidence',
  'final',
  'amount',
  'forwarder_address',
] as const satisfies readonly (keyof IncomePayment)[]

/** Payments that one statement reads: it stays far below the statement timeout, and other requests get a turn. */
const paymentsAtOnce = 5_000

/**
 * GET /api/agent/:fid/income.csv. Built in memory, not streamed: it has at most `incomeLimits.csvLines` lines of some
 * 500 bytes, and a document with more is refused as a whole instead of being cut.
 */
export const incomeCsv = route({
  ...paymentsOfAgent,
  path: '/api/agent/{fid}/income.csv',
  operationId: 'getIncomeCsv',
  summary: 'The same for bookkeeping: one payment a line, oldest first, as comma-separated values.',
  query: z.object(incomeFilters),
  answer: {
    type: 'text/csv; charset=utf-8',
    schema: z.string(),
    description:
      'RFC 4180, with a line of names. Dollars have all six decimals. A text that a spreadsheet would take for a ' +
      `formula begins with an apostrophe. More than ${grouped(incomeLimits.csvLines)} payments are refused with 400: ` +
      'narrow `since` and `until`. So is a `since` before which payments of the agent were archived, or none.',
  },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND', 'ERR_PAYLOAD_INVALID'],
  async read({ fid, ...given }, { database }) {
    if (!(await agentExists(database, fid))) return undefined
    const filter = askable(given)
    const names = `${[...columns, 'explorer_url'].join(',')}\r\n`
    if (!filter) return names
    const tooMany = () => invalidRequest('until', `must leave at most ${grouped(incomeLimits.csvLines)} payments`)
    // Refuse by the hourly counts, before any payment is read.
    if ((await countedIncomePayments(database, { fid, filter })) > incomeLimits.csvLines) throw tooMany()
    const lines: string[] = []
    let after: readonly string[] | undefined
    do {
      const page = await readPayments(database, { fid, limit: paymentsAtOnce, order: 'asc', filter, after, columns })
      const from = page.availableSince
      // A list says so next to its rows. A file of lines alone would be taken for all of them.
      if (from !== null && (filter.since === null || filter.since < from)) {
        throw invalidRequest('since', `must be ${from} or later: what is older was archived, and is in the files`)
      }
      lines.push(...(JSON.parse(page.rows) as Cell[][]).map(lineOf))
      after = page.next ?? undefined
      if (after && lines.length >= incomeLimits.csvLines) throw tooMany()
    } while (after)
    return names + lines.join('')
  },
})

type Cell = string | number | boolean | null

/** CSV line of a payment; `values` are in the order of `columns`, and the explorer's link is added at the end. */
function lineOf(values: readonly Cell[]): string {
  const cells = [...values]
  const value = (name: (typeof columns)[number]) => String(values[columns.indexOf(name)])
  cells.push(chainOf(value('chain') as ChainName).explorer.transaction.replace('{hash}', value('tx_hash')))
  return `${cells.map(cellOf).join(',')}\r\n`
}

/** A refund's amount. Spreadsheets take it for a number, with an apostrophe for a text that no sum counts. */
const negative = /^-[0-9]+(\.[0-9]+)?$/

/** A value as a CSV cell, with `'` before what a spreadsheet takes for a formula (RFC 4180; OWASP, "CSV Injection"). */
function cellOf(value: Cell): string {
  const text = value === null ? '' : String(value)
  const safe = /^[=+\-@\t\r\n]/.test(text) && !negative.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
