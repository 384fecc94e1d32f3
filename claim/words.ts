import type { Action, Challenge, Verdict } from './api-client.ts'

interface Asked {
  readonly fid: number
  readonly api: string
  readonly action: Action
  readonly dryRun: boolean
}

interface Signer {
  readonly fid: number
  readonly api: string
  readonly action: Action
  readonly address: string
  readonly chainId: number
}

/** How to sign a challenge elsewhere, and the command that then sends the signature. */
export function howToSign(challenge: Challenge, { fid, api, action, address, chainId }: Signer): string {
  const { text, nonce, timestamp, expires_at } = challenge
  const signed = `--address ${address} --nonce ${nonce} --timestamp ${timestamp} --chain-id ${chainId}`
  const acting = action === 'claim' ? '' : ` --action ${action}`
  return `Sign this text with ${address}:

${text}

Then send the signature, before ${expires_at}:

npm run claim -- --method eip191 --fid ${fid} ${signed}${acting} --api ${api} --signature <signature>

`
}

/** What a verdict means, and after a refusal what to do next. */
export function explain({ status, body }: Verdict, { fid, api, action, dryRun }: Asked): string {
  if (status === 200 && action === 'withdraw') {
    const { length } = body.withdrawn as readonly unknown[]
    return `FID ${fid} is claimed no more: ${length} ${length === 1 ? 'claim was' : 'claims were'} withdrawn`
  }
  if (status === 200) {
    const addresses = (body.verified_addresses as readonly string[]).join(', ') || 'none'
    const agent = `agent status ${body.agent_status}, verified addresses: ${addresses}`
    if (dryRun)
      return `every check passed: FID ${fid} would be claimed by ${body.method} (${agent}); nothing was stored`
    return `FID ${fid} is claimed by ${body.method} since ${body.claimed_at} (${agent}): ${api}/api/agent/${fid}`
  }
  const advice = advices[String(body.error)]?.(body, fid)
  const said = `the ${action === 'claim' ? 'claim' : 'withdrawal'} of FID ${fid} was refused with ${body.error}${body.detail ? `: ${body.detail}` : ''}`
  return advice ? `${said}\n${advice}` : said
}

/** Advice by error code; a code is absent where the service's own detail is advice enough. */
const advices: Record<string, (body: Verdict['body'], fid: number) => string> = {
  ERR_NONCE_USED: ({ replay }) =>
    replay
      ? 'This very claim was accepted before; there is nothing left to do.'
      : 'Claim again; each run of this command takes a new nonce.',
  ERR_SIG_EXPIRED: ({ server_time }) =>
    `Sign again, and look at this machine's clock: the service's shows ${server_time}.`,
  ERR_SIG_INVALID: () =>
    'Sign the text exactly as it was printed, with the account you named; for a contract wallet name its chain with --chain-id.',
  ERR_ADDRESS_NOT_VERIFIED: ({ address }, fid) =>
    `Verify ${address} in the settings of the account with FID ${fid}, or use the key of an address that is verified. ` +
    'Custody and auth addresses do not count.',
  ERR_JFS_KEY_INACTIVE: () =>
    'Use an app key that the account has added in the KeyRegistry on Optimism and not removed.',
  ERR_JFS_PAYLOAD_INVALID: () => 'If it is about aud: give --api the address that the service itself is known by.',
  ERR_MANIFEST_FETCH_FAILED: ({ host }, fid) =>
    `Publish there: ${JSON.stringify({ service: '<name of the service>', host, fid, addresses: ['<verified address>'] })}`,
  ERR_MANIFEST_ADDRESS_UNVERIFIED: ({ unverified }) =>
    `Take ${(unverified as readonly string[]).join(', ')} out of the manifest, or verify them first.`,
  ERR_RATE_LIMIT: waiting,
  ERR_RATE_LIMIT_DAILY: waiting,
  ERR_RATE_LIMITED: waiting,
  ERR_RATE_LIMITER_UNAVAILABLE: waiting,
  ERR_INTERNAL: () =>
    'The service could not ask everybody it has to: the network, a chain, its database. The claim was not judged; try again soon.',
}

function waiting({ retryAfterSeconds }: Verdict['body']): string {
  const seconds = Number(retryAfterSeconds)
  const [unitSeconds, unit] = seconds < 120 ? [1, 'seconds'] : seconds < 7_200 ? [60, 'minutes'] : [3_600, 'hours']
  return `Try again in ${Math.ceil(seconds / unitSeconds)} ${unit}.`
}
