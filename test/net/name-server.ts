import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'

/** What a name server knows of each name: addresses of both kinds, texts, or a refusal code; no entry: it stays silent. */
export type Zone = Readonly<
  Record<string, readonly string[] | { readonly texts: readonly string[] } | { readonly refusal: number }>
>

export interface NameServer {
  readonly port: number
  /** Name and type of each question, in the order in which they came. */
  readonly questions: string[]
  close(): Promise<void>
}

/** A name server on this machine. Source: RFC 1035 4.1. */
export async function startNameServer(zone: Zone, at = 0): Promise<NameServer> {
  const questions: string[] = []
  const server = createSocket('udp4', (query, from) => {
    const labels: string[] = []
    let at = 12
    for (; query[at] !== 0; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!))
    const type = query.readUInt16BE(at + 1)
    const name = labels.join('.').toLowerCase()
    questions.push(`${name} ${type}`)
    const known = zone[name]
    if (!known) return
    const refusal = 'refusal' in known ? known.refusal : 0
    const records = recordsOf(known, type).map((bytes) => {
      const length = [bytes.length >> 8, bytes.length & 0xff]
      return Buffer.concat([Buffer.of(0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, ...length), bytes])
    })
    const head = Buffer.alloc(12)
    head.writeUInt16BE(query.readUInt16BE(0), 0)
    head.writeUInt16BE(0x8180 | refusal, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(records.length, 6)
    server.send(Buffer.concat([head, query.subarray(12, at + 5), ...records]), from.port, from.address)
  })
  server.bind(at, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: server.address().port,
    questions,
    async close() {
      server.close()
      await once(server, 'close')
    },
  }
}

/** Data of the records of one type. A text is sent in pieces of up to 255 bytes. */
function recordsOf(known: Zone[string], type: number): Buffer[] {
  if ('refusal' in known) return []
  if (!('texts' in known)) return known.filter((one) => isIP(one) === (type === 1 ? 4 : 6)).map(bytesOf)
  const pieces = (text: string) =>
    text.match(/.{1,255}/gs)!.map((one) => Buffer.from(`${String.fromCharCode(one.length)}${one}`, 'latin1'))
  return type === 16 ? known.texts.map((text) => Buffer.concat(pieces(text))) : []
}

function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  const [before = [], after = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const between = Array.from({ length: 8 - before.length - after.length }, () => '0')
  const groups = [...before, ...between, ...after].map((group) => group.padStart(4, '0'))
  return Buffer.from(groups.join(''), 'hex')
}
