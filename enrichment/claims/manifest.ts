import { claimLimits } from '../../config/limits.claims.ts'
import type { Queryable } from '../../db/pool.ts'
import { disputesOf, type StandingClaim, storedVerification } from '../../db/queries/claims/claim-checks.ts'
import { groundFacts, lastCustodyChange, liveGroundsOf } from '../../db/queries/claims/grounds.ts'
import { registeredAddresses } from '../../db/queries/sources/registration-documents.ts'
import type { Door } from '../../net/door.ts'
import type { EgressAllow } from '../../net/egress.ts'
import { DoorError, type DoorReason } from '../../net/errors.ts'
import { second } from '../../ops/time.ts'
import { domainManifestLimits, findHostLink, type LinkWorld } from '../../social/grounds/host-link.ts'
import { createGroundsJudge, type GroundsWorld, type MessageProof } from '../../social/grounds/judge.ts'
import { contractChainIdOf } from '../../social/messages.ts'
import type { ProofWorld } from '../../social/proof-world.ts'
import type { SocialIndex } from '../../social/social-index.ts'
import { contradictionOf, type Witness } from '../../social/witness.ts'
import type { Json } from '../../trust/canonical-json.ts'
import { textOf } from '../../trust/strict-json.ts'
import { type Finding, gracePeriods } from './ending.ts'
import { isAnyVerifiedBefore } from './former-owner.ts'

interface ManifestsOptions extends ProofWorld {
  readonly social: Pick<SocialIndex, 'statements' | 'verifications'>
  /** The hubs that are not followed, asked about the profile that links a host. */
  readonly witnesses: () => readonly Witness[]
  /** What a message must be worth to support a claim. */
  readonly verificationProof: MessageProof
  readonly now: () => Date
  readonly door: Pick<Door, 'fetchJson'>
  readonly database: Queryable
  readonly egressAllow: EgressAllow
  readonly serviceName: string
  /** Throws when the followed hub is not believed. */
  believe(): Promise<void>
}

const limits = { maxBytes: claimLimits.manifestBytes, timeoutMs: 10 * second }
/** Failures that count as an answer without a manifest; all others are outages. */
const otherAnswers: readonly DoorReason[] = ['not_json', 'too_large', 'encoded', 'redirect_refused']
const gone: readonly number[] = [404, 410]

type Manifest = Readonly<Record<string, unknown>>
type ManifestClaim = Pick<StandingClaim, 'signer' | 'host_link'>

/** Checks the manifests with which claims were made. */
export class Manifests {
  readonly #grounds: GroundsWorld
  readonly #links: LinkWorld

  constructor(private readonly options: ManifestsOptions) {
    this.#grounds = groundsWorld(options)
    this.#links = this.#linkWorld()
  }

  /** Throws when the host, the hub or the chain does not answer. */
  async check(fid: number, { signer: host, host_link: linkedBy }: ManifestClaim): Promise<Finding> {
    const { database } = this.options
    const manifest = await this.#manifestOf(host)
    const listed = addressesListed(manifest, { fid, host, serviceName: this.options.serviceName })
    if ('kind' in listed) return listed
    const verifications = (await liveGroundsOf(database, fid)).map((one) => ({
      ...one,
      contractChainId: contractChainIdOf(one.message),
    }))
    const { addresses } = listed
    const unverified = addresses.filter((address) => !verifications.some((one) => one.address === address))
    if (unverified.length > 0) {
      if (!(await areAllPruned(database, fid, unverified)))
        return doubted({ host, problem: 'addresses that are not verified' })
      // Nobody took them back: that suspends the claim, however long it lasts.
      const detail = { host, addresses: unverified, pruned: true }
      return { kind: 'doubted', reason: 'verification_removed', detail }
    }
    const transfer = await lastCustodyChange(database, fid)
    if (transfer && (await isAnyVerifiedBefore(fid, addresses, transfer, this.options))) {
      return doubted({ host, problem: 'addresses that were verified before the account changed hands' })
    }
    const judge = createGroundsJudge(fid, verifications, this.#grounds)
    for (const address of addresses) {
      const weakness = await judge.weaknessOf(address)
      if (!weakness || weakness.contradiction) continue // a dispute is looked at for every claim alike
      return doubted({ host, problem: `${address} cannot support a claim: ${weakness.why}` })
    }
    if (linkedBy === null) return { kind: 'holds' } // the claim was accepted without a host link
    const transferBlock = transfer?.block ?? null
    const urlOf = (path: string) => `${this.#schemeOf(host)}://${host}${path}`
    const association = manifest?.accountAssociation
    const found = await findHostLink({ fid, host, judge, transferBlock, association, urlOf }, this.#links)
    if (found.kind === 'linked') return { kind: 'holds' }
    if (found.kind === 'disputed') {
      const { hub, message } = found.contradiction
      return { kind: 'doubted', reason: 'disputed', detail: { host, message, hubs: [{ hub, has: false }] } }
    }
    return doubted({ host, problem: 'nothing links the host to the account', linked_by: linkedBy })
  }

  /** Plain http is for hosts in EGRESS_ALLOW, which are the operator's own and have no certificates. */
  #schemeOf(host: string) {
    return this.options.egressAllow.has(host) && !host.endsWith(':443') ? 'http' : 'https'
  }

  async #manifestOf(host: string): Promise<Manifest | undefined> {
    const url = `${this.#schemeOf(host)}://${host}/.well-known/${this.options.serviceName}.json`
    const json = await this.#read(url, limits)
    return typeof json === 'object' && json !== null ? (json as Manifest) : undefined
  }

  /** Fetches the JSON at an address; undefined: the host answers, but not with any. Throws when it does not answer. */
  async #read(url: string, bounds: Parameters<Door['fetchJson']>[1]): Promise<unknown> {
    try {
      const { status, json } = await this.options.door.fetchJson(url, bounds)
      if (gone.includes(status)) return undefined
      if (status !== 200) throw new Error(`${new URL(url).host} answered with status ${status}`)
      return json
    } catch (error) {
      if (error instanceof DoorError && otherAnswers.includes(error.reason)) return undefined
      throw error
    }
  }

  #linkWorld(): LinkWorld {
    const { registries, wallets, database, social, believe } = this.options
    return {
      registries,
      wallets,
      grounds: this.#grounds,
      associationCharacters: claimLimits.associationCharacters,
      social: {
        async statements(fid) {
          await believe()
          return social.statements(fid)
        },
      },
      registeredAddresses: (addresses, host) => registeredAddresses(database, addresses, host),
      document: (url) => this.#read(url, domainManifestLimits),
    }
  }
}

function groundsWorld(options: ManifestsOptions): GroundsWorld {
  const { registries, wallets, verificationProof, database, witnesses, now } = options
  return {
    registries,
    wallets,
    verificationProof,
    now: () => now().getTime(),
    facts: groundFacts(database),
    // About verifications the other hubs are asked all the time, and twice before it is a dispute.
    async contradiction(of) {
      if (of.about === 'profile') return contradictionOf(witnesses(), of, now())
      const dispute = (await disputesOf(database, of.fid)).find(({ message }) => message === of.message)
      const hub = dispute?.hubs.find(({ has }) => !has)?.hub
      return hub === undefined ? undefined : { hub, message: of.message }
    },
  }
}

/** The addresses that a manifest of this account lists; a finding when it is not one. */
function addressesListed(
  manifest: Manifest | undefined,
  { fid, host, serviceName }: { fid: number; host: string; serviceName: string },
): Finding | { readonly addresses: readonly string[] } {
  const isOurs = manifest?.service === serviceName && textOf(manifest.host).toLowerCase() === host
  if (!isOurs) return doubted({ host, problem: 'no manifest for this service' })
  if (manifest.withdrawn === true) return refuted({ host, withdrawn: true })
  if (Number.isSafeInteger(manifest.fid) && manifest.fid !== fid) return refuted({ host, fid: manifest.fid as number })
  if (!Array.isArray(manifest.addresses)) return doubted({ host, problem: 'no addresses' })
  return { addresses: [...new Set(manifest.addresses.map((one) => textOf(one).toLowerCase()))] }
}

/** Whether the network let go of all of them by itself, and no signed message took one back. */
async function areAllPruned(database: Queryable, fid: number, addresses: readonly string[]): Promise<boolean> {
  for (const address of addresses) {
    const { pruned, removal } = await storedVerification(database, fid, address)
    if (!pruned || removal !== null) return false
  }
  return true
}

function doubted(detail: Json): Finding {
  return { kind: 'doubted', reason: 'manifest_gone', detail, grace: gracePeriods.missingManifest }
}

function refuted(detail: Json): Finding {
  return { kind: 'refuted', reason: 'manifest_gone', detail }
}
