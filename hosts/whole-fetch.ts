import { request } from 'undici'
import { readText } from './json-host.ts'

/** Most bytes of an answer, which may hold the logs of many blocks. */
const mostAnswerBytes = 10 * 1024 * 1024

/**
 * A fetch for viem, whose timeout ends where an answer begins: resolves once the whole answer is read. It asks for one that
 * is not compressed, because Node's own, up to Node 24, ends the process when a server closes the connection before its
 * answer is unpacked. Source: nodejs/undici#5360.
 */
export async function wholeFetch(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const answer = await request(String(url), {
    method: 'POST',
    headers: { ...(init.headers as Record<string, string>), 'accept-encoding': 'identity' },
    body: init.body as string,
    signal: init.signal ?? null,
  })
  return new Response(await readText(answer, mostAnswerBytes), { status: answer.statusCode })
}
