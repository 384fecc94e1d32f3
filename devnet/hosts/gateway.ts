import { createHash } from 'node:crypto'
import { startWebHost, type WebHost } from './web-host.ts'

export interface IpfsGateway extends WebHost {
  /** Makes content available and returns its identifier. */
  add(content: string): string
}

/** A gateway to content in memory, by path: `/ipfs/<identifier>`. */
export async function startGateway(options: { port?: number } = {}): Promise<IpfsGateway> {
  const host = await startWebHost(options)
  return {
    ...host,
    add(content) {
      const cid = rawCid(content)
      host.pages.set(`/ipfs/${cid}`, { body: Buffer.from(content), headers: { 'content-type': 'application/json' } })
      return cid
    },
  }
}

const base32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** Identifier of content as one raw block: CIDv1, codec raw, SHA-256, in base32. */
export function rawCid(content: string): string {
  const digest = createHash('sha256').update(content).digest()
  const bits = [0x01, 0x55, 0x12, 0x20, ...digest].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits.match(/.{1,5}/g) ?? []
  return `b${digits.map((five) => base32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')}`
}
