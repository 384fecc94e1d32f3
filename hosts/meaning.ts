/**
 * What a failed answer means for the next question:
 * `busy` too many questions, ask later; `unready` it cannot answer now or does not have it yet, ask later; `large` too
 * much at once, ask for less; `closed` the address or its key is wrong; `never` the same question will always fail;
 * `unclear` it says nothing of the kind.
 */
export type Meaning = 'busy' | 'unready' | 'large' | 'closed' | 'never' | 'unclear'

/** HTTP statuses. 521 to 524 are Cloudflare's for a server that it does not reach, 529 is the SQD Portal's for overload. */
const statuses: readonly (readonly [Meaning, readonly number[]])[] = [
  ['busy', [429, 529]],
  ['unready', [408, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 530]],
  ['large', [413]],
  ['closed', [401, 402, 403, 404]],
  ['never', [400, 405, 410, 414, 415, 422, 501]],
]

/**
 * JSON-RPC codes whose meaning is settled, whatever the text. Source: JSON-RPC 2.0 section 5.1, EIP-1474; -32004 is
 * EIP-1474's for a method that is not supported.
 */
const settledCodes: readonly (readonly [Meaning, readonly number[]])[] = [
  ['busy', [429, -32007, -32016, -32029]],
  ['never', [-32601, -32004]],
]

/** Words of a JSON-RPC error, in this order: providers share no codes, so they come before those of `looseCodes`. */
const words: readonly (readonly [Meaning, RegExp])[] = [
  [
    'busy',
    /rate.?limit|too many requests|request (limit|rate|count)|compute units|throughput|per (second|minute)|quota/i,
  ],
  [
    'never',
    /pruned|missing trie node|historical state|revert|not (supported|whitelisted|enabled)|unauthorized|api.?key/i,
  ],
  [
    'unready',
    /beyond|current head|last accepted block|(header|block) (was )?not found|unknown block|unfinalized|syncing/i,
  ],
  [
    'large',
    /batch|too (large|big|wide|long|many)|more than [\d,]+|block range|limited to|(result|response|log).*(limit|exceed)/i,
  ],
  [
    'unready',
    /overload|busy|time[d -]*out|deadline|try again|retry|temporar|unavailable|not yet|capacity|internal error/i,
  ],
]

/** JSON-RPC codes that say what the text does not. -32005 is EIP-1474's "limit exceeded", also used for too many logs. */
const looseCodes: readonly (readonly [Meaning, readonly number[]])[] = [
  ['busy', [-32005]],
  ['unready', [-32603, -32014, -32002, -32001]],
  ['never', [-32600, -32602, -32700, 3]],
]

export function meaningOfStatus(status: number): Meaning {
  return meaningIn(statuses, status) ?? (status >= 500 ? 'unready' : 'unclear')
}

export function meaningOfError({ code = 0, message = '' }: { code?: number; message?: string }): Meaning {
  const said = words.find(([, pattern]) => pattern.test(message))?.[0]
  return meaningIn(settledCodes, code) ?? said ?? meaningIn(looseCodes, code) ?? 'unclear'
}

function meaningIn(table: typeof statuses, value: number): Meaning | undefined {
  return table.find(([, values]) => values.includes(value))?.[0]
}
