import { changing, type RpcFault, type RpcFaultOptions, type RpcFaults, refusing } from '../doubles/rpc-faults.ts'

/** A block as JSON-RPC returns it. */
export type Block = Record<string, unknown> & { transactions: unknown[] }
export type Log = Record<string, unknown>
/** Adds faults to a proxy before a node. */
export type Trouble = (faults: RpcFaults) => void

export const foreignHash = `0x${'ba'.repeat(32)}`

/** Logs to cut from the end of a block, so that a payment is among them. */
const lastLogs = 6

/** Transient faults of a node without eth_getBlockReceipts, or of several nodes behind one address; by test name. */
export const troubles: [string, Trouble][] = [
  [
    'one that fails',
    (faults) => {
      for (const status of [500, 502, 503, 504]) add(faults, { kind: 'status', status }, { skip: status - 500 })
    },
  ],
  [
    'one that is asked too often, in the words of HTTP and in those of JSON-RPC',
    (faults) => {
      add(faults, { kind: 'status', status: 429 }, { times: 2 })
      add(faults, refusing(-32005, 'rate limit exceeded'), { skip: 3 })
    },
  ],
  ['one that resets connections', (faults) => add(faults, { kind: 'reset' }, { times: 3 })],
  [
    'answers that are cut short',
    (faults) => add(faults, { kind: 'text', change: (text) => text.slice(0, -20) }, { times: 2 }),
  ],
  [
    'pages instead of answers',
    (faults) => add(faults, { kind: 'text', change: () => '<html>Welcome</html>' }, { times: 2 }),
  ],
  [
    'answers to questions of somebody else',
    (faults) => add(faults, { kind: 'answers', change: (answers) => answers.map((one) => ({ ...one, id: 'x' })) }),
  ],
  [
    'batches that are answered in part, or all at once with an error',
    (faults) => {
      const method = 'eth_getBlockByNumber'
      add(faults, { kind: 'answers', change: (answers) => answers.slice(1) }, { method, skip: 1 })
      add(
        faults,
        { kind: 'text', change: () => '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"busy"}}' },
        { method, skip: 3 },
      )
    },
  ],
  [
    'results that are nothing of the kind',
    (faults) =>
      add(
        faults,
        changing('eth_getLogs', () => ({ logs: [] })),
        { method: 'eth_getLogs' },
      ),
  ],
  [
    'blocks that are not there',
    (faults) =>
      add(
        faults,
        changing('eth_getBlockByNumber', () => null),
        { method: 'eth_getBlockByNumber', times: 3 },
      ),
  ],
  [
    'a block in the place of another',
    (faults) => add(faults, withSwappedBlocks, { method: 'eth_getBlockByNumber', times: 2 }),
  ],
  [
    'no logs at all',
    (faults) =>
      add(
        faults,
        changing('eth_getLogs', () => []),
        { method: 'eth_getLogs', times: 2 },
      ),
  ],
  [
    'logs left out at the end',
    (faults) =>
      add(
        faults,
        changing<Log[]>('eth_getLogs', (logs) => logs.slice(0, -lastLogs)),
        { method: 'eth_getLogs' },
      ),
  ],
  [
    'a log left out in between',
    (faults) =>
      add(
        faults,
        changing<Log[]>('eth_getLogs', (logs) => logs.toSpliced(5, 1)),
        { method: 'eth_getLogs' },
      ),
  ],
  [
    'logs of a block that has another hash',
    (faults) =>
      add(
        faults,
        changing<Log[]>('eth_getLogs', (logs) => logs.map((log) => ({ ...log, blockHash: foreignHash }))),
        { method: 'eth_getLogs' },
      ),
  ],
  [
    'receipts that are null, where logs are too many for an answer',
    (faults) => {
      add(faults, refusing(-32005, 'query returned more than 10000 results'), {
        method: 'eth_getLogs',
        times: Infinity,
      })
      add(
        faults,
        changing('eth_getTransactionReceipt', () => null),
        { method: 'eth_getTransactionReceipt', times: 2 },
      )
    },
  ],
  [
    'traces that are not there yet',
    (faults) => {
      const method = 'debug_traceTransaction'
      add(
        faults,
        changing(method, () => null),
        { method },
      )
      add(faults, refusing(-32000, 'transaction not found'), { method, skip: 1 })
      add(faults, { kind: 'status', status: 500 }, { method, skip: 2 })
    },
  ],
]

const receiptsMethod = 'eth_getBlockReceipts'
type Receipt = Record<string, unknown> & { logs: Log[] }

/** Faults of eth_getBlockReceipts, by test name. */
export const receiptTroubles: [string, Trouble][] = [
  [
    'logs left out at the end, where the logs bloom tells nothing',
    (faults) => {
      const times = Infinity
      const cut = changing<Log[]>('eth_getLogs', (logs) => logs.slice(0, -lastLogs))
      add(faults, cut, { method: 'eth_getLogs', times })
      for (const method of ['eth_getBlockByNumber', 'eth_getBlockByHash']) {
        const blank = changing<Block | null>(
          method,
          (block) => block && { ...block, logsBloom: `0x${'00'.repeat(256)}` },
        )
        add(faults, blank, { method, times })
      }
    },
  ],
  [
    'receipts left out, twice, of another block, or nothing of the kind',
    (faults) => {
      addToReceipts(faults, (receipts) => receipts.slice(0, -1))
      addToReceipts(faults, () => [])
      addToReceipts(faults, () => null)
      addToReceipts(faults, () => [{ logs: 1 }])
      addToReceipts(faults, (receipts) => [...receipts, ...receipts])
      addToReceipts(faults, (receipts) => receipts.map((receipt) => ({ ...receipt, blockHash: foreignHash })))
      addToReceipts(faults, ([first, ...others]) => [{ ...first, logs: first?.logs.slice(1) }, ...others])
    },
  ],
  [
    'receipts that are short for good, with whole logs',
    (faults) => addToReceipts(faults, (receipts) => receipts.slice(1), Infinity),
  ],
  [
    'receipts refused now and then',
    (faults) => add(faults, refusing(-32000, 'busy'), { method: receiptsMethod, times: 2 }),
  ],
]

/** Adds a fault to the receipts of non-empty blocks; `times`: requests until it ends, those of empty blocks too. */
function addToReceipts(faults: RpcFaults, change: (receipts: Receipt[]) => unknown, times = 1) {
  const fault = changing<Receipt[] | null>(receiptsMethod, (receipts) =>
    receipts?.length ? change(receipts) : receipts,
  )
  add(faults, fault, { method: receiptsMethod, times })
}

/** Swaps the results of a batch: the ids are right, each result belongs to another id. */
const withSwappedBlocks: RpcFault = {
  kind: 'answers',
  change: (answers) =>
    answers.map((answer, place) => ({ ...answer, result: answers[answers.length - 1 - place]?.result })),
}

/** Adds a fault; without a method it skips the first two requests too, by which a processor learns its chain. */
function add(faults: RpcFaults, fault: RpcFault, { skip = 0, ...options }: RpcFaultOptions = {}) {
  faults.add(fault, { ...options, skip: options.method ? skip : skip + 2 })
}
