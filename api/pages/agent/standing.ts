import type { z } from 'zod'
import type { addressList } from '../../schemas/addresses/addresses.ts'
import { statedMark } from '../parts/badges.ts'
import type { Exact, Profile } from '../parts/exact-json.ts'
import { figure } from '../parts/figures.ts'
import { type Html, html } from '../parts/html.ts'
import { outsideLink, ownAddress } from '../parts/links.ts'
import { shortName } from '../parts/text.ts'
import { day } from '../parts/times.ts'

export type Addresses = Exact<z.output<typeof addressList>>

/** Most verified addresses on the page; the JSON has all of them. */
const mostAddresses = 10

/** What the claimant did, in words, by the method of the claim. */
const deeds: Readonly<Record<string, string>> = {
  eip191: 'signed with a verified address',
  jfs: 'signed with a key of an app the account uses',
  'well-known': 'published it on a host of the account',
}

const words: Readonly<Record<string, string>> = {
  proven: 'Every verified address signed that it belongs to the account, and so did a key that the registry names.',
  signed: 'Every verified address signed that it belongs to the account; nobody looked the keys up in the registry.',
  stated: 'At least one address cannot be checked in full: part of its proof is only the network’s word.',
}

const verdicts: Readonly<Record<string, string>> = {
  proven: 'Its signature was checked, and the key that published it is in the registry',
  signed: 'Its signature was checked; nobody looked the key up in the registry',
  stated: 'Part of its proof cannot be checked',
}

/** Who stands behind the agent: the account, the addresses it verifies, its claim; each with where to check it. */
export function standing(agent: Profile, addresses: Addresses | undefined): Html {
  const { fid, handle, handle_assurance: named, verified_addresses: verified, assurance } = agent
  return html`<section aria-labelledby="standing"><h2 id="standing">Who stands behind it</h2>
<dl class="facts wide-facts">
<div><dt>Account</dt><dd>${
    handle === null
      ? html`FID ${fid} of the Farcaster network`
      : html`${outsideLink(`https://farcaster.xyz/${encodeURIComponent(shortName(handle))}`, `@${shortName(handle)}`)} on Farcaster, FID ${fid}${statedMark(named)}`
  } · <a href="/owner/${fid}">everything it holds</a></dd></div>
<div><dt>Addresses</dt><dd>${
    verified.length === 0
      ? 'The account verifies no address now.'
      : html`<ul class="plain">${verified.slice(0, mostAddresses).map((address) => verification(address, addresses))}</ul>`
  }${verified.length > mostAddresses && html`<p class="sub">${figure(mostAddresses)} of ${figure(verified.length)}.</p>`}${
    assurance !== null &&
    html`<p class="sub">${words[assurance]} <a href="/api/agent/${fid}/addresses">Check it</a></p>`
  }</dd></div>
<div><dt>Claim</dt><dd>${claim(agent)}</dd></div>
</dl></section>`
}

function verification(address: string, list: Addresses | undefined): Html {
  const known = list?.addresses.find((one) => one.address === address)
  const verdict = known?.verdict ?? null
  return html`<li>${ownAddress(address)} <span class="sub">${known?.verified_at && html`verified ${day(known.verified_at)}`}</span> ${
    verdict !== null &&
    html`<span class="status${verdict !== 'stated' && ' active'}" title="${verdicts[verdict]}">${verdict}</span>`
  }${known?.before_custody && html` <span class="status" title="From before the account last changed hands: it cannot carry a claim">before custody</span>`}${
    known?.disputed && html` <span class="status" title="Another fresh hub does not know it">disputed</span>`
  }</li>`
}

function claim({ fid, claimed, claimed_at, claim_method, claim_state }: Profile): Html {
  if (!claimed) return html`Nobody has claimed it. <a href="/claim?fid=${fid}">Yours? Claim it</a>`
  return html`Claimed since ${day(claimed_at)}: whoever controls the account ${deeds[claim_method ?? ''] ?? 'claimed it'}.${
    claim_state === 'suspended' && ' What the claim rests on cannot be seen at the moment; we will look again.'
  } <a href="/api/agent/${fid}/proof">The proof</a> is public 15 minutes after the claim. <a href="/claim?fid=${fid}">Yours? Manage the claim</a>`
}
