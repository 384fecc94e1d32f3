/**
 * What members of cards, manifests, demands and priced descriptions mean, by the keys that documents in use write: no two of
 * them agree. Keys are compared in lower case and without `_`, `-` and blanks. The next spelling is a word in its row.
 */
const spellings = {
  version: ['x402version', 'version', 'schemaversion', 'specversion', 'manifestversion'],
  title: ['name', 'title', 'servicename', 'displayname'],
  /** What is sold. */
  things: [
    'resources',
    'items',
    'services',
    'endpoints',
    'apis',
    'paidresources',
    'paidendpoints',
    'paidservices',
    'paidroutes',
    'routes',
    'products',
    'listings',
    'offerings',
    'paidapis',
    'paidtools',
    'x402endpoints',
    'x402resources',
    'x402services',
    'protectedresources',
    'protectedroutes',
    'protectedendpoints',
    'monetizedendpoints',
    'apiendpoints',
    'skus',
  ],
  /** Ways to pay for it, alternatives of each other. */
  ways: [
    'accepts',
    'accept',
    'paymentrequirements',
    'paymentoptions',
    'paymentmethods',
    'payments',
    'payment',
    'offers',
    'pricing',
    'prices',
    'x402',
    'xpaymentinfo',
    'tiers',
    'plans',
    'pricingtiers',
    'paymentinfo',
    'paymentdetails',
    'paymentrequirement',
    'paymentrequired',
    'acceptedpayments',
    'acceptedpaymentmethods',
    'acceptedassets',
    'acceptedtokens',
    'x402payment',
  ],
  resource: [
    'resource',
    'url',
    'path',
    'endpoint',
    'route',
    'uri',
    'href',
    'resourceurl',
    'endpointurl',
    'endpointpath',
    'resourcepath',
    'pathname',
    'urltemplate',
    'apiurl',
    'link',
  ],
  method: ['method', 'httpmethod', 'verb'],
  description: ['description', 'summary'],
  scheme: ['scheme', 'paymentscheme'],
  network: [
    'network',
    'networks',
    'chain',
    'chains',
    'chainid',
    'networkid',
    'blockchain',
    'caip2',
    'supportednetworks',
    'networkname',
    'chainname',
    'supportedchains',
    'settlementnetwork',
    'paymentnetwork',
    'paymentchain',
    'caip2network',
    'networkcaip2',
    'blockchainnetwork',
  ],
  /** Where several are written, an address says more than a symbol. */
  asset: [
    'assetaddress',
    'tokenaddress',
    'contractaddress',
    'asset',
    'token',
    'assetsymbol',
    'tokensymbol',
    'tokencontract',
    'assetcontract',
    'paymenttoken',
    'paymentasset',
    'usdcaddress',
    'usdccontract',
  ],
  /** Of an asset that is an object. */
  address: ['address', 'contract', 'contractaddress', 'id'],
  currency: ['currency', 'currencycode', 'symbol', 'pricecurrency', 'unit', 'denomination'],
  decimals: ['decimals', 'assetdecimals', 'tokendecimals', 'decimalplaces', 'currencydecimals'],
  payTo: [
    'payto',
    'paytoaddress',
    'recipient',
    'payee',
    'payeeaddress',
    'receiver',
    'wallet',
    'walletaddress',
    'paymentaddress',
    'paymentwallet',
    'payoutaddress',
    'payaddress',
    'receiveraddress',
    'receiverwallet',
    'receivingaddress',
    'receivingwallet',
    'recipientaddress',
    'recipientwallet',
    'paytowallet',
    'selleraddress',
    'sellerwallet',
    'merchantaddress',
    'merchantwallet',
    'beneficiary',
    'treasury',
    'wallets',
  ],
  /** An amount in base units, whatever stands beside it. */
  units: [
    'maxamountrequired',
    'amountatomic',
    'atomicamount',
    'amountbaseunits',
    'amountinbaseunits',
    'priceatomic',
    'microusdc',
    'pricemicrousdc',
    'amountmicrousdc',
    'priceinatomicunits',
    'amountinatomicunits',
    'baseunits',
    'atomicunits',
    'rawamount',
    'amountraw',
    'priceraw',
    'pricebaseunits',
  ],
  /** An amount in base units beside an asset, in whole ones beside a currency. */
  amount: ['amount', 'maxamount'],
  price: [
    'price',
    'cost',
    'fee',
    'priceperrequest',
    'pricepercall',
    'costperrequest',
    'xprice',
    'xx402price',
    'x402price',
    'priceamount',
    'amountperrequest',
    'amountpercall',
    'costpercall',
    'feeperrequest',
    'feepercall',
    'unitprice',
    'baseprice',
    'defaultprice',
    'pricepertask',
    'priceperquery',
    'perrequest',
    'percall',
  ],
  usd: [
    'priceusd',
    'usd',
    'usdprice',
    'priceinusd',
    'amountusd',
    'costusd',
    'advisorypriceusd',
    'priceperrequestusd',
    'pricepercallusd',
    'xpriceusd',
    'usdamount',
    'usdcost',
    'feeusd',
    'costinusd',
    'costperrequestusd',
    'costpercallusd',
    'pricepercallinusd',
    'priceperrequestinusd',
    'amountinusd',
    'valueusd',
    'priceindollars',
    'pricedollars',
  ],
  /** Amounts whose key names another currency. */
  usdCents: ['usdcents', 'priceusdcents', 'amountusdcents', 'priceinusdcents'],
  usdc: [
    'usdc',
    'priceusdc',
    'usdcprice',
    'priceinusdc',
    'amountusdc',
    'usdcamount',
    'costusdc',
    'feeusdc',
    'priceperrequestusdc',
    'pricepercallusdc',
  ],
  usdt: ['usdt', 'priceusdt', 'amountusdt'],
  eur: ['eur', 'priceeur', 'amounteur', 'priceineur', 'costeur'],
  eth: ['eth', 'priceeth', 'amounteth', 'priceineth', 'costeth'],
  sol: ['sol', 'pricesol', 'amountsol', 'priceinsol', 'costsol'],
  sats: ['sats', 'pricesats', 'amountsats', 'priceinsats', 'costsats', 'satoshis'],
  cents: ['cents', 'pricecents', 'amountcents', 'priceincents', 'costcents'],
  credits: ['credits', 'pricecredits', 'costcredits', 'priceincredits', 'creditcost'],
  /** Of a price that is an object. */
  value: ['value'],
  least: ['minprice', 'min', 'minamount'],
  most: ['maxprice', 'max'],
  leastUsd: ['minpriceusd', 'minusd'],
  mostUsd: ['maxpriceusd', 'maxusd'],
  /** Extensions of OpenAPI that hold all this. */
  extension: [
    'xpaymentinfo',
    'xx402',
    'xx402info',
    'x402',
    'x402info',
    'xpricing',
    'xpayment',
    'xpayments',
    'xmonetization',
    'xpaymentrequired',
    'xx402payment',
    'xagentpayment',
    'xcost',
  ],
  /** Of a card: one more level around it, and marks of cards without a list of skills. */
  cardWrapper: ['agentcard', 'card', 'agent', 'data', 'result'],
  cardMarks: ['preferredtransport', 'supportedinterfaces', 'defaultinputmodes'],
  /** Of what is sold, for buyers who look for something: extensions of x402. */
  service: ['servicename'],
  icon: ['iconurl', 'icon', 'logourl', 'logo'],
  extensions: ['extensions'],
  bazaar: ['bazaar'],
  info: ['info', 'discoveryinfo'],
  input: ['input'],
  output: ['output'],
  schema: ['schema'],
  route: ['routetemplate'],
  /** Of version 1, which has both in it. */
  outputSchema: ['outputschema'],
  /** Of cards: what is shown of several names. */
  shown: ['title', 'displayname', 'name', 'servername', 'id'],
  name: ['name', 'id', 'title', 'displayname', 'protocol', 'toolname', 'skillname', 'tool', 'function'],
  id: ['id', 'identifier', 'slug', 'skillid', 'toolid'],
  tags: ['tags', 'keywords', 'categories'],
  capabilities: ['capabilities'],
  tools: ['tools', 'mcptools', 'functions', 'toolset', 'toolsets', 'toollist'],
  skills: ['skills', 'a2askills', 'skilllist', 'agentskills'],
  /** Members of a map of tools or skills that say something about all of it. */
  aboutList: [
    'listchanged',
    'description',
    'type',
    'count',
    'total',
    'url',
    'endpoint',
    'href',
    'docs',
    'note',
    'version',
  ],
  /** Of an MCP server, what it says of itself, and servers beside each other. */
  serverInfo: ['serverinfo', 'implementation'],
  servers: ['servers', 'mcpservers', 'server', 'mcpserver'],
  /** Places where an agent, a server or an API takes requests. */
  interfaces: [
    'supportedinterfaces',
    'additionalinterfaces',
    'interfaces',
    'remotes',
    'transports',
    'transport',
    'endpoints',
    'connections',
  ],
  place: [
    'url',
    'endpoint',
    'endpointurl',
    'baseurl',
    'serviceurl',
    'serviceendpoint',
    'uri',
    'href',
    'serverurl',
    'mcpurl',
    'mcpendpoint',
    'mcpserverurl',
    'rpcurl',
    'jsonrpcurl',
    'a2aurl',
    'a2aendpoint',
    'agenturl',
    'location',
    'cardurl',
  ],
  binding: ['protocolbinding', 'binding', 'transport', 'preferredtransport', 'type', 'transporttype', 'protocol'],
  protocolVersion: [
    'protocolversion',
    'supportedprotocolversions',
    'a2aversion',
    'mcpversion',
    'a2aprotocolversion',
    'mcpprotocolversion',
  ],
  security: ['securityschemes', 'securitydefinitions', 'authentication', 'auth', 'authschemes'],
  /** Of a catalog. */
  entries: ['entries', 'items', 'catalog', 'agents', 'artifacts'],
  mediaType: ['mediatype', 'type', 'contenttype', 'format', 'artifacttype'],
  data: ['data', 'card', 'inline', 'content'],
  /** Lists of names of schemes within that. */
  schemes: ['schemes', 'methods', 'types'],
  /** Of a scheme. */
  schemeType: ['type', 'scheme', 'method'],
  /** Offers of MPP, and what x402 has no member of its own for. */
  mpp: ['offers'],
  extra: ['extra'],
  /** One more level around a manifest. */
  wrapper: ['manifest', 'x402manifest', 'discovery', 'data', 'result', 'service', 'server'],
} as const satisfies Record<string, readonly string[]>

export type Meaning = keyof typeof spellings

/** The members of an object by what they mean. */
export interface Members {
  /** The first member with this meaning, in the order of the row; undefined: none. */
  get(meaning: Meaning): unknown
  /** All members with this meaning. */
  all(meaning: Meaning): readonly unknown[]
  /** The member with this key, which is one of a row. */
  at(key: string): unknown
}

/** Reads an object by meaning; anything else has no members. Of two keys that are spelt alike the first counts. */
export function membersOf(value: unknown): Members {
  const object = fieldsOf(value)
  const known = read.get(object) ?? readMembers(object)
  read.set(object, known)
  return known
}

/** Objects are read once: each is looked at for several meanings, from inside and outside. */
const read = new WeakMap<object, Members>()

function readMembers(object: Readonly<Record<string, unknown>>): Members {
  const members = new Map<string, unknown>()
  for (const [key, member] of Object.entries(object)) {
    const plain = plainKey(key)
    if (member != null && !members.has(plain)) members.set(plain, member)
  }
  return byMeaning((key) => members.get(key))
}

function byMeaning(at: (key: string) => unknown): Members {
  const all = (meaning: Meaning) => spellings[meaning].map(at).filter((member) => member !== undefined)
  return { all, get: (meaning) => all(meaning)[0], at }
}

/**
 * An object with the members of all of these by what they mean; of two that are spelt alike the first counts. Nothing is
 * copied: what holds for a whole document is beside each part of it.
 */
export function beside(...objects: readonly object[]): object {
  const all = objects.map(membersOf)
  const object = {}
  const at = (key: string) => {
    for (const members of all) {
      const member = members.at(key)
      if (member !== undefined) return member
    }
    return undefined
  }
  read.set(object, byMeaning(at))
  return object
}

/** Whether a key has one of these meanings. */
export function means(key: string, ...meanings: readonly Meaning[]): boolean {
  const plain = plainKey(key)
  return meanings.some((meaning) => (spellings[meaning] as readonly string[]).includes(plain))
}

const plainKey = (key: string) => key.toLowerCase().replaceAll(/[_\-\s]/g, '')

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : nothing
}

const nothing = {}
