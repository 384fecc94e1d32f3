import { isIP } from 'node:net'
import { freePort } from '../ops/ports.ts'

/**
 * Port and address of an API that is told to listen on this host, a name or an IP address. For port 0 a free one is
 * chosen: whoever waits for the API has to know it, and after a restart it must be the same.
 */
export async function chooseAddress({ host, port }: { host: string; port: number }) {
  const chosen = port === 0 ? await freePort(host) : port
  return { port: chosen, url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${chosen}` }
}
