import { createHash } from 'node:crypto'
import { type Hex, recoverMessageAddress } from 'viem'
import { type ClaimAction, claimMessage } from '../claim-text.ts'
import { signedBy } from '../envelope.ts'
import { textOf } from '../strict-json.ts'
import { walletChains } from '../verification-claim.ts'
import { bytesOf, type CheckLine, line } from './line.ts'
import type { ClaimProof, Statement } from './proof.ts'

type Of<Kind extends Statement['kind']> = Extract<Statement, { kind: Kind }>

/** Checks what was signed or published to claim. */
export function checkStatement(proof: ClaimProof): Promise<CheckLine[]> {
  const { statement } = proof
  const isOfMethod = line('the statement is of the claim’s method', () => statement.kind === proof.method)
  const time = timeLine(proof)
  const lines =
    statement.kind === 'eip191'
      ? checkText(proof, statement)
      : statement.kind === 'jfs'
        ? checkToken(proof, statement)
        : checkManifest(proof, statement)
  return Promise.all([isOfMethod, time, ...lines])
}

/** Seconds that checking hosts and chains may take. */
const checking = 60
/** Seconds that the service takes a signed time for, before or after, and what checking takes. */
const window = 15 * 60 + checking

/** A claim cannot be made with what was signed long before or after: a token of then may have been stolen since. */
async function timeLine({ statement, claimed_at }: ClaimProof): Promise<CheckLine> {
  const name = 'the signed time fits that of the claim'
  const apart = Math.abs(saidAt(statement, claimed_at) - Date.parse(claimed_at)) / 1_000
  return { name, outcome: apart <= window ? 'held' : 'failed' }
}

/** The time that was signed, in milliseconds; NaN: none that can be read. `otherwise`: of a manifest that names none. */
function saidAt(statement: Statement, otherwise: string): number {
  const said =
    statement.kind === 'eip191'
      ? statement.timestamp
      : statement.kind === 'jfs'
        ? jsonOf(statement.payload)?.timestamp
        : (manifestOf(statement.body)?.timestamp ?? otherwise)
  return Date.parse(textOf(said))
}

/** What was signed long before or after the end did not end the claim, nor did what was signed before the claim. */
function endTimeLine({ ended, statement, claimed_at }: ClaimProof): Promise<CheckLine>[] {
  if (!ended?.statement) return []
  const { at, statement: word } = ended
  return [
    line('the end was signed after the claim, and its time fits', () => {
      const said = saidAt(word, at)
      const claimed = Math.min(saidAt(statement, claimed_at), Date.parse(claimed_at))
      return Math.abs(said - Date.parse(at)) / 1_000 <= window && said >= claimed - checking * 1_000
    }),
  ]
}

/** SHA-256 by which the events of a claim name its proof. */
export function statementDigest(
  { fid, nonce }: Pick<ClaimProof, 'fid' | 'nonce'>,
  statement: Statement,
  action: ClaimAction = 'claim',
): string {
  const identity = JSON.stringify(identityOf(fid, nonce, statement))
  return createHash('sha256')
    .update(action === 'claim' ? identity : `${action} ${identity}`)
    .digest('hex')
}

function identityOf(fid: number, nonce: string, statement: Statement): readonly unknown[] {
  switch (statement.kind) {
    case 'eip191': {
      const { address, nonce, timestamp, chain_id, signature } = statement
      return ['eip191', fid, address, nonce, timestamp, chain_id, signature.toLowerCase()]
    }
    case 'jfs':
      return ['jfs', fid, [statement.header, statement.payload, statement.signature].join('.')]
    case 'well-known':
      return ['well-known', fid, new URL(statement.url).host, nonce]
  }
}

function checkText(proof: ClaimProof, statement: Of<'eip191'>): Promise<CheckLine>[] {
  const { address, chain_id: chainId, nonce } = statement
  const behind = proof.address_proofs.find((one) => one.address === address)
  return [
    line('the text is the one for this claim', () => nonce === proof.nonce && isTextFor(proof, statement, 'claim')),
    line('the signer is a verified address', () => behind !== undefined && !behind.before_custody),
    behind?.verification?.type === 1
      ? line(
          'the wallet is asked on its own chain',
          () => walletChains.includes(chainId) && chainId === behind.verification?.chain_id,
        )
      : line('the text is signed by the address', () => isTextSigned(statement)),
  ]
}

function isTextFor(proof: ClaimProof, statement: Of<'eip191'>, action: ClaimAction): boolean {
  const { address, chain_id: chainId, nonce, timestamp, text } = statement
  const terms = { serviceName: proof.service, siteUrl: proof.site_url, baseUrl: proof.base_url }
  return text === claimMessage(terms, { fid: proof.fid, address: address as Hex, chainId, nonce, timestamp }, action)
}

async function isTextSigned({ address, text, signature }: Of<'eip191'>): Promise<boolean> {
  return (await recoverMessageAddress({ message: text, signature: signature as Hex })).toLowerCase() === address
}

function checkToken(proof: ClaimProof, statement: Of<'jfs'>): Promise<CheckLine>[] {
  const key = keyOf(statement)
  return [
    line('the token is for this claim', () => isTokenFor(proof, statement, 'claim')),
    line('the token is signed by its key', () => isTokenSigned(statement)),
    // Only keys of the chain, because the service takes no token by another and no node is asked about it.
    line('the key is among those looked up', () =>
      proof.keys.some((one) => one.key === key && one.source === 'chain' && (one.state === 1 || one.state === 2)),
    ),
  ]
}

/** Key that a token names; the service takes hexadecimal digits of either case. */
export function keyOf({ header }: Of<'jfs'>): string {
  return textOf(jsonOf(header)?.key).toLowerCase()
}

function isTokenFor({ fid, base_url, nonce }: ClaimProof, statement: Of<'jfs'>, action: ClaimAction): boolean {
  const [header, payload] = [statement.header, statement.payload].map(jsonOf)
  const isFor = header?.fid === fid && header.type === 'app_key' && payload?.fid === fid
  const isOfNonce = action !== 'claim' || payload?.nonce === nonce
  return isFor && isOfNonce && payload.aud === base_url && payload.action === action
}

function isTokenSigned(statement: Of<'jfs'>): boolean {
  const signed = Buffer.from(`${statement.header}.${statement.payload}`, 'ascii')
  return signedBy(Buffer.from(statement.signature, 'base64url'), signed, bytesOf(keyOf(statement)))
}

function checkManifest(proof: ClaimProof, statement: Of<'well-known'>): Promise<CheckLine>[] {
  const { url, body, sha256, fetched_at } = statement
  const manifest = () => manifestOf(body) ?? {}
  return [
    line('the digest is of the manifest', () => createHash('sha256').update(body).digest('hex') === sha256),
    line('the manifest is of this FID, service and host', () => {
      const { fid, service, host, nonce = proof.nonce, withdrawn } = manifest()
      const isOfHost = textOf(host).toLowerCase() === new URL(url).host
      const isAt = url === `https://${new URL(url).host}/.well-known/${proof.service}.json`
      return fid === proof.fid && service === proof.service && nonce === proof.nonce && isOfHost && isAt && !withdrawn
    }),
    line('the manifest was fetched for the claim', () => fetched_at === proof.claimed_at),
    line('every address of the manifest is verified', () => {
      const named = listOf(manifest().addresses).map((address) => textOf(address).toLowerCase())
      const verified = proof.address_proofs.filter((one) => !one.before_custody).map(({ address }) => address)
      return named.length > 0 && named.every((address) => verified.includes(address))
    }),
  ]
}

/** The manifest as an object; a byte order mark before it is taken by the service, too. */
function manifestOf(body: string): Record<string, unknown> | undefined {
  return objectOf(body.replace(/^\uFEFF/, ''))
}

/** Of an ended claim: whether what is shown of its withdrawal was signed. Other ends are the service’s word here. */
export function endLines(proof: ClaimProof): (Promise<CheckLine> | CheckLine)[] {
  const { ended, keys } = proof
  if (!ended) return []
  const name = 'the claim was ended by who could'
  const { statement } = ended
  const { proof_sha256 } = (ended.evidence ?? {}) as { proof_sha256?: unknown }
  const isNamed = (given: Statement) => proof_sha256 === statementDigest(proof, given, 'withdraw')
  const inTime = endTimeLine(proof)
  if (statement?.kind === 'eip191') return [...inTime, signedEndLine(proof, statement, name, isNamed)]
  if (statement?.kind === 'jfs' && jsonOf(statement.header)?.type === 'app_key') {
    return [
      ...inTime,
      line(name, () => {
        const isKnown = keys.some(({ key }) => key === keyOf(statement))
        return isKnown && isNamed(statement) && isTokenFor(proof, statement, 'withdraw') && isTokenSigned(statement)
      }),
    ]
  }
  return [...inTime, { name, outcome: 'unknown', detail: 'that is the service’s word alone' }]
}

/** Whether who withdrew a claim by a text could: a verified address, or the custody address, which may not be named. */
async function signedEndLine(
  proof: ClaimProof,
  statement: Of<'eip191'>,
  name: string,
  isNamed: (given: Statement) => boolean,
): Promise<CheckLine> {
  const { custody, address_proofs } = proof
  const isKnown = [custody?.address, ...address_proofs.map(({ address }) => address)].includes(statement.address)
  const signed = await line(name, () => {
    const isOfClaim = isNamed(statement) && isTextFor(proof, statement, 'withdraw')
    return isOfClaim && (isKnown || custody === null) && isTextSigned(statement)
  })
  if (isKnown || signed.outcome !== 'held') return signed
  return { name, outcome: 'unknown', detail: 'that the signer has custody of the FID is the service’s word alone' }
}

export function jsonOf(segment: string): Record<string, unknown> | undefined {
  return objectOf(Buffer.from(segment, 'base64url').toString())
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
