import { runCommand, UsageError } from '../ops/cli.ts'
import { type Action, askChallenge, type ClaimBody, sendClaim } from './api-client.ts'
import { given, keyOf } from './secret-key.ts'
import { explain, howToSign } from './words.ts'

const usage = `
npm run claim -- --method <method> --fid <fid> [--action withdraw] [--api <url>] [--dry-run]

Claims a FID for whoever controls it, and explains the result. Exits with 0 only if the claim was accepted (with --dry-run:
if it would be; every check is made and nothing is stored).

  --method eip191       with a signature of a verified address
      --private-key -   reads the key, 0x hex, from standard input; as an argument others can read it
      --address A       without a key: prints the text to sign in a wallet, and the command that sends the signature
      --signature S --nonce N --timestamp T
                        with --address: sends a signature made elsewhere
      --chain-id C      chain of a contract wallet (10)
  --method jfs          with a token signed by an active app key
      --app-key -       reads the Ed25519 secret, 32 bytes in 0x hex, from standard input
  --method well-known   with a manifest on a host that belongs to the account
      --host H          its name, without scheme or path
  --action withdraw     withdraws instead of claiming; the same methods prove it, with a text of their own
  --api URL             address of the service, as the text to sign names it (AGENT_DIRECTORY_URL, or http://127.0.0.1:3000)
`

/** Where `npm start` serves, unless somebody else has its port. */
const localApi = 'http://127.0.0.1:3000'

const options = {
  method: { type: 'string' },
  fid: { type: 'string' },
  api: { type: 'string' },
  'private-key': { type: 'string' },
  'app-key': { type: 'string' },
  address: { type: 'string' },
  signature: { type: 'string' },
  nonce: { type: 'string' },
  timestamp: { type: 'string' },
  'chain-id': { type: 'string', default: '10' },
  host: { type: 'string' },
  action: { type: 'string', default: 'claim' },
  'dry-run': { type: 'boolean', default: false },
} as const

await runCommand({ usage, options }, async ({ values }) => {
  const api = (values.api ?? (process.env.AGENT_DIRECTORY_URL || localApi)).replace(/\/+$/, '')
  if (!URL.canParse(api)) throw new UsageError(`the service must have an http(s) address, not ${api}`)
  if (!/^[1-9][0-9]*$/.test(values.fid ?? '')) throw new UsageError('--fid must be a positive integer')
  const fid = Number(values.fid)
  const dryRun = values['dry-run'] ?? false
  const { action = 'claim' } = values
  if (action !== 'claim' && action !== 'withdraw') throw new UsageError('--action must be claim or withdraw')
  if (dryRun && action !== 'claim') throw new UsageError('--dry-run is for claims alone')
  const body = await bodyOf(values, { fid, api, action })
  const verdict = await sendClaim(api, body, { action, dryRun })
  const words = explain(verdict, { fid, api, action, dryRun })
  if (verdict.status !== 200) throw new Error(words)
  process.stdout.write(`${words}\n`)
})

type Values = { readonly [name in keyof typeof options]?: string | boolean | undefined }

interface Wanted {
  readonly fid: number
  readonly api: string
  readonly action: Action
}

async function bodyOf(values: Values, { fid, api, action }: Wanted): Promise<ClaimBody> {
  const { jfsBody, wellKnownBody } = await import('./body.ts') // loaded late: --help needs no signing library
  switch (values.method) {
    case 'eip191':
      return signedBody(values, { fid, api, action })
    case 'jfs':
      return jfsBody({ fid, action, audience: api, secret: await keyOf('--app-key', values['app-key'], api) })
    case 'well-known':
      return wellKnownBody(fid, given('--host', values.host))
    default:
      throw new UsageError('--method must be eip191, jfs or well-known')
  }
}

async function signedBody(values: Values, { fid, api, action }: Wanted): Promise<ClaimBody> {
  const chainId = Number(values['chain-id'])
  if (!Number.isSafeInteger(chainId) || chainId <= 0) throw new UsageError('--chain-id must be a positive integer')
  const { domainOf, unsignedBody, withSignature } = await import('./body.ts')
  if (values.signature !== undefined) {
    const address = given('--address', values.address)
    const nonce = given('--nonce', values.nonce)
    const timestamp = given('--timestamp', values.timestamp)
    return unsignedBody({ fid, address, chainId, nonce, timestamp }, given('--signature', values.signature))
  }
  if (values['private-key'] !== undefined) {
    const key = await keyOf('--private-key', values['private-key'], api)
    return withSignature(
      key,
      { fid, chainId, action, api },
      (address) => askChallenge(api, { fid, address, chainId, action }),
      (domain) => process.stdout.write(`signed for ${domain}, whose service is at ${api}\n`),
    )
  }
  const address = given('--private-key or --address', values.address)
  const challenge = await askChallenge(api, { fid, address, chainId, action })
  domainOf(challenge, address, { fid, chainId, action, api }) // throws: what is printed will be signed
  process.stdout.write(howToSign(challenge, { fid, api, action, address, chainId }))
  throw new Error(`nothing was ${action === 'claim' ? 'claimed' : 'withdrawn'} yet`)
}
