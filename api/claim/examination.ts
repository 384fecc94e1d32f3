import { createHash } from 'node:crypto'
import type { ClaimAction } from '../../trust/claim-text.ts'
import { type AttemptCounter, countProof } from './attempts.ts'
import type { ClaimWorld, DecodedProof, VerifiedProof } from './proof-method.ts'
import { type ClaimMethod, methods, readRequest } from './request.ts'
import { checkWindow } from './timestamp.ts'

/**
 * The checks of a proof in the order in which they are made, for claims, withdrawals and the rest alike: `readProof` makes
 * those up to the time, `examineProof` those from the nonce to the live state, and who stores the outcome the last, under
 * the lock on the FID's claims. Cheap checks come first, and local checks before remote ones. Only what
 * is stored uses up its nonce: otherwise a stranger could burn the owner's.
 */
export const checkOrder = [
  'shape',
  'method',
  'FID',
  'decoding',
  'FID of the proof',
  'audience',
  'time',
  'nonce',
  'claim limiter',
  'signature',
  'live state',
  'insert',
] as const

/** A proof as it was sent: known to be of its form, for the FID, for this service and made lately. */
export interface ReadProof {
  readonly fid: number
  readonly method: ClaimMethod
  readonly proof: DecodedProof
  /** Of the proof's identity; no two actions share one. */
  readonly proofSha256: Buffer
}

/** A request's FID in the header `X-FID` (undefined: not sent) and its JSON body. */
export interface SentProof {
  readonly body: Uint8Array
  readonly fidHeader: string | undefined
}

/** Method and FID of what was sent, then the rest of it. `supported`: methods of proof that the action accepts. */
export function readProof(
  { body, fidHeader }: SentProof,
  action: ClaimAction,
  supported: readonly ClaimMethod[],
  world: ClaimWorld,
): { readonly method: ClaimMethod; readonly read: () => ReadProof } {
  const { fid, method, body: fields } = readRequest(body, fidHeader, supported)
  return {
    method,
    read() {
      const proof = methods[method](fields, fid, world, action)
      if (proof.timestamp !== undefined) checkWindow(proof.timestamp, world)
      const said = action === 'claim' ? proof.identity : `${action} ${proof.identity}`
      return { fid, method, proof, proofSha256: createHash('sha256').update(said).digest() }
    },
  }
}

/** What was accepted before, told by throwing ERR_NONCE_USED. */
interface UsedProofs {
  /** Refuses the proof when its nonce is used. */
  refuse(): Promise<void>
  /** Refuses it when its manifest, of this SHA-256, was accepted before. */
  refuseManifest(manifestSha256: Buffer): Promise<void>
}

/** Counts an attempt of a client, and checks the proof with whoever has to be asked. */
export async function examineProof(
  { fid, proof }: ReadProof,
  used: UsedProofs,
  { attempts, client }: { readonly attempts: AttemptCounter; readonly client: string },
): Promise<VerifiedProof> {
  await used.refuse()
  const answered = await countProof(attempts, { client, fid, host: proof.host })
  return proof.verify(async (manifest) => {
    await answered(manifest?.namedFid)
    if (manifest) await used.refuseManifest(manifest.sha256)
  })
}
