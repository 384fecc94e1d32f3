import { once } from 'node:events'
import { createServer, connect as open, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { issueCertificate } from '../certificate.ts'

/** Name of every host of one domain, as a certificate has it. */
const everyHost = '*.shop.xyz'

/** A host that answers at `address`, on port 80 and by TLS on a port of its own, and the PEM of who signed for it. */
export async function startHost(address: string): Promise<{ readonly secure: Server; readonly authority: string }> {
  const authority = issueCertificate('Test Authority')
  const answer = (socket: Socket) => {
    socket.on('error', () => {}).resume()
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntrue')
  }
  const secure = createTlsServer(issueCertificate(everyHost, authority).pem, answer).on('tlsClientError', () => {})
  const plain = createServer(answer)
  await Promise.all([once(secure.listen(0, address), 'listening'), once(plain.listen(80, address), 'listening')])
  return { secure, authority: authority.pem.cert }
}

/** What a connection does once the host has sent so many bytes. */
const acts = {
  end: (socket: Socket) => socket.end(),
  reset: (socket: Socket) => socket.resetAndDestroy(),
  garbage: (socket: Socket) => socket.end(Buffer.alloc(64, 0x17)),
  silence: () => {},
}
type Break = keyof typeof acts
export const breaks = Object.keys(acts) as readonly Break[]

export interface Moment {
  bytes: number
  how: Break
}

/** A relay at `address`:443 to a host, which lets `moment.bytes` of its answer pass and then breaks the connection. */
export async function startRelay(host: Server, address: string, moment: Moment): Promise<void> {
  const { port } = host.address() as { port: number }
  const relay = createServer((socket) => {
    const { bytes, how } = moment
    const behind = open(port, address)
    let left = bytes
    const breakOff = () => {
      behind.destroy()
      acts[how](socket)
    }
    socket.on('error', () => {}).on('close', () => behind.destroy())
    socket.on('data', (chunk) => behind.write(chunk))
    behind.on('error', () => {}).on('end', () => socket.end())
    behind.on('data', (chunk) => {
      if (left > 0) socket.write(chunk.subarray(0, left))
      if (chunk.length >= left) breakOff()
      left -= chunk.length
    })
    if (bytes === 0) breakOff()
  })
  await once(relay.listen(443, address), 'listening')
}
