import type { Header, Trace } from './blocks.ts'
import type { Query } from './query.ts'
import type { Selection } from './selection.ts'

/** Writes a block as one line of JSON, without a line break, with exactly the fields a query names. */
type Render = (header: Header, selection?: Selection) => string

/** Compiles a query into a renderer. Item kinds without a match are absent; fields the source lacks are null. */
export function compileProjection(query: Query): Render {
  const header = projector(query.fields.block)
  const transaction = projector(query.fields.transaction)
  const log = projector(query.fields.log)
  const trace = traceProjector(query.fields.trace)
  return (block, selection) =>
    JSON.stringify({
      header: header(block),
      transactions: nonEmpty(selection?.transactions.map(transaction)),
      logs: nonEmpty(selection?.logs.map(log)),
      traces: nonEmpty(selection?.traces.map(trace)),
    })
}

function nonEmpty<T>(items: T[] | undefined): T[] | undefined {
  return items && items.length > 0 ? items : undefined
}

function projector(fields: Record<string, boolean>): (item: object) => Record<string, unknown> {
  const names = Object.keys(fields).filter((name) => fields[name])
  return (item) => Object.fromEntries(names.map((name) => [name, (item as Record<string, unknown>)[name] ?? null]))
}

const baseOfTrace = ['transactionIndex', 'traceAddress', 'type', 'subtraces', 'error', 'revertReason'] as const

/** Of each kind of frame: the query's field name, where it stands in the answer, and its name there. */
const partsOfTrace: Record<Trace['type'], readonly (readonly [string, 'action' | 'result', string])[]> = {
  call: [
    ['callFrom', 'action', 'from'],
    ['callTo', 'action', 'to'],
    ['callValue', 'action', 'value'],
    ['callGas', 'action', 'gas'],
    ['callInput', 'action', 'input'],
    ['callSighash', 'action', 'sighash'],
    ['callType', 'action', 'type'],
    ['callCallType', 'action', 'callType'],
    ['callResultGasUsed', 'result', 'gasUsed'],
    ['callResultOutput', 'result', 'output'],
  ],
  create: [
    ['createFrom', 'action', 'from'],
    ['createValue', 'action', 'value'],
    ['createGas', 'action', 'gas'],
    ['createInit', 'action', 'init'],
    ['createResultGasUsed', 'result', 'gasUsed'],
    ['createResultCode', 'result', 'code'],
    ['createResultAddress', 'result', 'address'],
  ],
  suicide: [
    ['suicideAddress', 'action', 'address'],
    ['suicideRefundAddress', 'action', 'refundAddress'],
    ['suicideBalance', 'action', 'balance'],
  ],
  reward: [
    ['rewardAuthor', 'action', 'author'],
    ['rewardValue', 'action', 'value'],
    ['rewardType', 'action', 'type'],
  ],
}

function traceProjector(fields: Record<string, boolean>): (trace: Trace) => Record<string, unknown> {
  const base = projector(Object.fromEntries(baseOfTrace.map((name) => [name, fields[name] ?? false])))
  return (trace) => {
    const line = base(trace)
    for (const [field, part, name] of partsOfTrace[trace.type]) {
      if (!fields[field]) continue
      if (part === 'result' && trace.result === null) {
        line.result = null
        continue
      }
      line[part] ??= {}
      const values = line[part] as Record<string, unknown>
      // `callType` was first written as `type` and later, under its SDK name, as `callType`: one value, two names.
      values[name] = trace[part]?.[name === 'type' && trace.type === 'call' ? 'callType' : name] ?? null
    }
    return line
  }
}
