/** Body of POST /api/claim and /api/claim/withdraw. */
export type ClaimBody = Readonly<Record<string, unknown>>

/** What the command asks of the service for a FID. */
export type Action = 'claim' | 'withdraw'

/** Text that an eip191 claim or withdrawal signs, with the nonce and time in it. */
export interface Challenge {
  readonly text: string
  readonly nonce: string
  readonly timestamp: string
  /** ISO time until which the service takes the signature. */
  readonly expires_at: string
}

/** Status and JSON body of the service's answer, a refusal as well as a success. */
export interface Verdict {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

const timeoutMs = 20_000

/** Asks the service for the text to sign. Throws with its error code and detail when it refuses. */
export async function askChallenge(
  api: string,
  { fid, address, chainId, action }: { fid: number; address: string; chainId: number; action: Action },
): Promise<Challenge> {
  const query = new URLSearchParams({ fid: String(fid), address, chain_id: String(chainId), method: 'eip191', action })
  const { status, body } = await ask(`${api}/api/claim/challenge?${query}`)
  if (status !== 200) throw new Error(`there is no challenge: ${body.error} ${body.detail ?? ''}`.trim())
  return body as unknown as Challenge
}

export function sendClaim(
  api: string,
  claim: ClaimBody,
  { action, dryRun }: { action: Action; dryRun: boolean },
): Promise<Verdict> {
  const headers = { 'content-type': 'application/json' }
  const path = action === 'claim' ? '/api/claim' : `/api/claim/${action}`
  return ask(`${api}${path}${dryRun ? '?dry_run=true' : ''}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(claim),
  })
}

async function ask(url: string, init: RequestInit = {}): Promise<Verdict> {
  const { host } = new URL(url)
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) }).catch((cause: Error) => {
    throw new Error(`no answer from ${host}: ${(cause.cause as Error | undefined)?.message ?? cause.message}`, {
      cause,
    })
  })
  const body: unknown = await answer.json().catch(() => undefined)
  if (typeof body === 'object' && body !== null) return { status: answer.status, body: body as Verdict['body'] }
  throw new Error(`${host} answered with status ${answer.status} and no JSON: is --api the address of the service?`)
}
