import { publicHosts, publicHubs } from './hosts.ts'
import type { Setting } from './settings.row.ts'
import { egressAllow, httpUrl, httpUrls, hubUrls, keyText, seconds } from './settings.schema.ts'

// Settings of what the enrichment job reads besides the chains: the social network, agents' documents, other sources.

export const network = {
  HUB_URL: {
    form: hubUrls,
    unset: 'public hubs',
    about: 'HTTP APIs of Farcaster hubs, separated by commas: the first is followed',
    more:
      'The others should have other operators. They are asked whether they know the same messages: a message that one ' +
      'of them lacks supports no new claim. While the first is behind, not believed or silent, the next one whose events ' +
      'agree with what was read is followed. Unset: ' +
      `${publicHubs.map(({ url, operator }) => `${url} of ${operator}`).join(' and ')}, asked gently.`,
    readers: ['enrichment', 'api'],
  },
  HUB_GRPC: {
    form: httpUrls,
    unset: 'off',
    about: 'gRPC APIs of such hubs, as http(s) addresses separated by commas; http means without TLS',
    more:
      'Asked what an account has revoked if the hubs of HUB_URL disagree: their HTTP APIs do not say. Unset: nobody is ' +
      'asked, and what they disagree about stays disputed.',
    readers: ['enrichment'],
  },
  HUB_POLL_SECONDS: {
    form: seconds(0.1, 3600),
    default: '30',
    about: "seconds between readings of the hub's events",
    readers: ['enrichment'],
  },
  COUNTS_PAUSE_SECONDS: {
    form: seconds(0.1, 60), // answers promise counts of a minute ago
    default: '60',
    about:
      'seconds between rounds that update counts, payers, feedback, edges, demand and totals; rankings wait nine times as ' +
      'long as they take, if that is more',
    readers: ['enrichment'],
  },
  NEYNAR_URL: {
    form: httpUrl,
    default: publicHosts.neynar.url,
    about: 'Neynar finds the accounts of new holders at once; otherwise they are found by sweeping the hub',
    more: 'It is off without a key.',
    readers: ['enrichment'],
  },
  NEYNAR_API_KEY: {
    form: keyText,
    unset: 'off',
    about: "key for Neynar's API, and for its hub if HUB_URL names that one",
    readers: ['enrichment', 'api'],
  },
} as const satisfies Record<string, Setting>

export const documents = {
  IPFS_GATEWAYS: {
    form: httpUrls,
    default: 'https://ipfs.io,https://dweb.link,https://w3s.link',
    about: 'IPFS gateways, separated by commas and tried in this order',
    readers: ['enrichment'],
  },
  ARWEAVE_URL: {
    form: httpUrl,
    default: 'https://arweave.net',
    about: 'an Arweave gateway',
    readers: ['enrichment'],
  },
  EGRESS_ALLOW: {
    form: egressAllow,
    default: '',
    about: 'hosts that may be reached although they are private or not https, as host:port, separated by commas',
    more: 'Nothing else weakens the guard on requests to hosts that agents and claimants name.',
    readers: ['enrichment', 'api'],
  },
} as const satisfies Record<string, Setting>

export const upstreams = {
  BLOCKSCOUT_URL: {
    form: httpUrl,
    default: publicHosts.blockscout.url,
    about: "Blockscout's metadata service, for tags of agents' addresses",
    more: 'The public one needs a key; without it the source is off. Any other host is asked without a key too.',
    readers: ['enrichment'],
  },
  BLOCKSCOUT_API_KEY: { form: keyText, unset: 'off', about: "Blockscout's key", readers: ['enrichment'] },
  OLI_URL: {
    form: httpUrl,
    default: publicHosts.oli.url,
    about: 'labels of the Open Labels Initiative',
    more: 'Off without a key, as above.',
    readers: ['enrichment'],
  },
  OLI_API_KEY: { form: keyText, unset: 'off', about: 'key of the Open Labels Initiative', readers: ['enrichment'] },
  WEB3BIO_URL: {
    form: httpUrl,
    default: publicHosts.web3bio.url,
    about: 'web3.bio, for the identities that agents have elsewhere',
    readers: ['enrichment'],
  },
  WEB3BIO_API_KEY: {
    form: keyText,
    unset: 'none',
    about: 'key of web3.bio, which raises its rate limit',
    readers: ['enrichment'],
  },
  GITHUB_URL: {
    form: httpUrl,
    default: publicHosts.github.url,
    about: "GitHub's API, for the GitHub accounts that agents name",
    readers: ['enrichment'],
  },
  GITHUB_TOKEN: {
    form: keyText,
    unset: 'none',
    about: 'GitHub token: 5,000 requests an hour with one, 60 without',
    readers: ['enrichment'],
  },
} as const satisfies Record<string, Setting>
