import { createHash } from 'node:crypto'
import { z } from 'zod'
import { claimLimits } from '../../config/limits.claims.ts'
import { hasStandingClaim } from '../../db/queries/claims/claim-actions.ts'
import { registeredAddresses } from '../../db/queries/sources/registration-documents.ts'
import { DoorError } from '../../net/errors.ts'
import { domainManifestLimits, findHostLink, type LinkWorld } from '../../social/grounds/host-link.ts'
import { createGroundsJudge, type GroundsWorld } from '../../social/grounds/judge.ts'
import type { ClaimAction } from '../../trust/claim-text.ts'
import { ApiError } from '../http/errors.ts'
import { tryAgainShortly } from './attempts.ts'
import { groundsWorld } from './grounds.ts'
import { type ClaimWorld, type Decode, invalidFields, nonceText, type OnFetched, parseFields } from './proof-method.ts'
import { checkWindow, parseTimestamp, timestampText } from './timestamp.ts'
import { addressesOf, verificationsOf } from './verified-set.ts'

const request = z.object({
  host: z
    .string('must be a string')
    .max(claimLimits.hostCharacters, `must be at most ${claimLimits.hostCharacters} characters`)
    .toLowerCase()
    .refine((host) => URL.parse(`https://${host}/`)?.host === host, 'must be a host name, without scheme or path'),
  nonce: nonceText,
})

const address = z
  .string('must be a string')
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits')
  .toLowerCase()

const manifestShape = z.object({
  service: z.string('must be a string'),
  host: z.string('must be a string').toLowerCase(),
  addresses: z
    .array(address, 'must be a list of addresses')
    .min(1, 'must name an address')
    .max(claimLimits.manifestAddresses, `must name at most ${claimLimits.manifestAddresses} addresses`)
    .refine((all) => new Set(all).size === all.length, 'must name each address once'),
  nonce: z.string('must be a string').optional(),
  timestamp: timestampText.optional(),
  accountAssociation: z.unknown().optional(),
  /** True in a manifest that takes a claim back: it makes none. */
  withdrawn: z.literal(false, 'must be left out').optional(),
})

/** Shape of the manifest that a host publishes to withdraw a claim. */
const withdrawalShape = manifestShape
  .omit({ addresses: true, withdrawn: true })
  .extend({ withdrawn: z.literal(true, 'must be true') })

type Said = Omit<z.output<typeof manifestShape>, 'addresses' | 'withdrawn'> & { readonly addresses?: readonly string[] }

/** Proof by a manifest on the claimant's host that names the fid and its addresses. */
export const decodeWellKnown: Decode = (body, fid, world, action) => {
  const { host, nonce } = parseFields(request, body)
  return {
    nonce,
    timestamp: undefined,
    identity: JSON.stringify(['well-known', fid, host, nonce]),
    host,

    async verify(fetched) {
      const subject = { fid, host, nonce }
      const { said, manifest, body, sha256, ...found } = await verifyManifest(subject, world, action, fetched)
      return {
        proof: { host, nonce, manifest, body },
        signer: host,
        signedAt: said.timestamp === undefined ? undefined : parseTimestamp(said.timestamp),
        ...found,
        byCustody: false,
        manifestSha256: sha256,
      }
    },
  }
}

interface Subject {
  readonly fid: number
  readonly host: string
  /** Nonce that the manifest must have, if it has one; undefined: any. */
  readonly nonce: string | undefined
}

/**
 * Fetches the manifest of a host and checks it against what the hub says now. Throws the ApiError that a claim with it
 * would get, any other error when a source does not answer. `onFetched`: called before anything is checked.
 */
export async function verifyManifest(
  { fid, host, nonce }: Subject,
  world: ClaimWorld,
  action: ClaimAction,
  onFetched?: OnFetched,
) {
  const urlOf = (path: string) => `${schemeOf(host, world)}://${host}${path}`
  const fetched = await fetchManifest(urlOf(`/.well-known/${world.serviceName}.json`), host, world).catch(
    async (error: unknown) => {
      if (error instanceof ApiError && error.code === 'ERR_MANIFEST_FETCH_FAILED') await onFetched?.(undefined)
      throw error
    },
  )
  await onFetched?.({ sha256: fetched.sha256, namedFid: namedFid(fetched.manifest) })
  const said = readManifest(fetched.manifest, { fid, host, nonce }, world, action)
  const verifications = await verificationsOf(world, fid)
  const verifiedAddresses = addressesOf(verifications)
  const grounds = groundsWorld(world)
  const judge = createGroundsJudge(fid, verifications, grounds)
  const unverified: string[] = []
  for (const address of [...(said.addresses ?? [])].sort()) {
    if (await judge.weaknessOf(address)) unverified.push(address)
  }
  if (unverified.length > 0) {
    const detail = `fid ${fid} must verify every address of the manifest`
    throw new ApiError('ERR_MANIFEST_ADDRESS_UNVERIFIED', detail, { fid, unverified })
  }
  const transfer = await grounds.facts.lastCustodyChange(fid)
  const subject = {
    fid,
    host,
    judge,
    transferBlock: transfer?.block ?? null,
    association: said.accountAssociation,
    urlOf,
  }
  const unlinked = { ...fetched, said, verifiedAddresses, hostLink: null }
  if (!world.hostLinkRequired && action === 'claim') return unlinked
  const found = await findHostLink(subject, linksOf(world, grounds))
  // A withdrawal names no address that the account verifies: a host without a link takes back its own claims alone.
  if (found.kind === 'none' && !world.hostLinkRequired && (await hasStandingClaim(world.database, fid, host)))
    return unlinked
  if (found.kind !== 'linked') {
    const detail =
      found.kind === 'disputed'
        ? `what links ${host} to fid ${fid} is not known to ${found.contradiction.hub}, another hub; try again in a few minutes`
        : `${host} must be linked to fid ${fid}: by an accountAssociation, the profile's URL, or the agentURI or a ` +
          'service of a registration, each by an address or a key that could claim itself'
    throw new ApiError('ERR_FID_MISMATCH', detail, { expected_fid: fid, actual_fid: null })
  }
  return { ...fetched, said, verifiedAddresses, hostLink: found.link }
}

function linksOf(world: ClaimWorld, grounds: GroundsWorld): LinkWorld {
  const { database, door, registries, wallets, social } = world
  return {
    registries,
    wallets,
    social,
    grounds,
    associationCharacters: claimLimits.associationCharacters,
    registeredAddresses: (addresses, host) => registeredAddresses(database, addresses, host),
    async document(url) {
      const fetched = await door.fetchJson(url, domainManifestLimits).catch((error: unknown) => {
        if (!(error instanceof DoorError)) throw error
        if (error.checkStatus === null) throw tryAgainShortly(error)
        return undefined // no manifest there: no link
      })
      return fetched?.status === 200 ? fetched.json : undefined
    },
  }
}

/** `http` only for hosts that the operator allowed, which are his own and have no certificates. */
function schemeOf(host: string, { egressAllow }: ClaimWorld): 'http' | 'https' {
  return egressAllow.has(host) && !host.endsWith(':443') ? 'http' : 'https'
}

async function fetchManifest(url: string, host: string, { door }: ClaimWorld) {
  const fetched = await door
    .fetchJson(url, { maxBytes: claimLimits.manifestBytes, timeoutMs: claimLimits.manifestSeconds * 1_000 })
    .catch((cause: unknown) => {
      if (!(cause instanceof DoorError)) throw cause
      // Nobody was asked: our own queue for the host is full, or we are stopping.
      throw cause.checkStatus === null ? tryAgainShortly(cause) : unreadable(url, host, cause)
    })
  if (fetched.status !== 200) throw unreadable(url, host)
  return {
    manifest: fetched.json,
    body: fetched.body.toString(),
    sha256: createHash('sha256').update(fetched.body).digest(),
  }
}

/** Error of a fetch, with the same detail for every cause: else a client could map our network by the differences. */
function unreadable(url: string, host: string, cause?: Error): ApiError {
  const detail = `there must be a JSON document at ${url}, without redirects`
  return new ApiError('ERR_MANIFEST_FETCH_FAILED', detail, { host }, { cause })
}

function readManifest(manifest: unknown, { fid, host, nonce }: Subject, world: ClaimWorld, action: ClaimAction): Said {
  const shape: z.ZodType<Said> = action === 'claim' ? manifestShape : withdrawalShape
  const said = parseFields(shape, manifest, 'manifest')
  const named = namedFid(manifest)
  if (named !== fid) {
    throw new ApiError('ERR_FID_MISMATCH', `the manifest must be for fid ${fid}`, {
      expected_fid: fid,
      actual_fid: named ?? null,
    })
  }
  const problems = [
    ...(said.service === world.serviceName ? [] : [mustBe('service', world.serviceName)]),
    ...(said.host === host ? [] : [mustBe('host', host)]),
    ...(said.nonce === undefined || nonce === undefined || said.nonce === nonce ? [] : [mustBe('nonce', nonce)]),
  ]
  if (problems.length > 0) throw invalidFields(problems)
  if (said.timestamp !== undefined) checkWindow(said.timestamp, world)
  return said
}

function namedFid(manifest: unknown): number | undefined {
  const fid = (manifest as { fid?: unknown } | null)?.fid
  return Number.isSafeInteger(fid) && (fid as number) > 0 ? (fid as number) : undefined
}

const mustBe = (field: string, value: string) => ({ path: `manifest.${field}`, problem: `must be ${value}` })
