import type { Hex } from 'viem'

/**
 * Code of a contract that answers calls by their selectors with the same bytes each time, and reverts on any other. Keys are
 * the beginnings of call data that are compared: a selector alone.
 */
export function answeringCode(answers: Readonly<Record<Hex, Hex>>): Hex {
  const entries = Object.entries(answers) as [Hex, Hex][]
  const headBytes = 5 + entries.length * 11 + 3
  const bodyBytes = 14
  let offset = headBytes + entries.length * bodyBytes
  const two = (n: number) => n.toString(16).padStart(4, '0')
  let head = '5f3560e01c' // the selector
  let body = ''
  let data = ''
  for (const [index, [selector, answer]] of entries.entries()) {
    const bytes = answer.slice(2)
    const length = two(bytes.length / 2)
    head += `8063${selector.slice(2)}1461${two(headBytes + index * bodyBytes)}57`
    body += `5b61${length}61${two(offset)}5f3961${length}5ff3`
    data += bytes
    offset += bytes.length / 2
  }
  return `0x${head}5f5ffd${body}${data}`
}
