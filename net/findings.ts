interface FindingKind {
  /** blocks: a caller or a buyer cannot go on; warns: some cannot, or will not; informs: nothing is wrong with it. */
  readonly severity: 'blocks' | 'warns' | 'informs'
  readonly meaning: string
  /** What the one who runs the endpoint does about it. */
  readonly fix: string
  /** How it is found. */
  readonly found: string
}

const answer = 'from the answer to a request for the endpoint'
const demand = 'in the demand of a 402 answer, in each entry of `accepts`'
const onChain =
  'on the chain, at the block that `as_of` of the endpoint names, for demands and for the offers of manifests'
const registry = 'from the registry and the documents as they were last read'

/**
 * Why nobody can reach an endpoint, or pay it: a closed list of codes. From it come GET /api/doctor/codes, the pages
 * /docs/doctor and what `npm run doctor` prints; enrichment/specs/findings finds them.
 *
 * Sources: x402 specification v2 (PaymentRequired, transports-v2/http) and v1, its extension bazaar, EIP-3009, CAIP-2,
 * ERC-8004.
 */
export const findingTable = {
  dns_error: {
    severity: 'blocks',
    meaning: 'The name of the host leads to no address.',
    fix: 'Set the DNS records of the name, or correct the address in the registration file.',
    found: answer,
  },
  connect_error: {
    severity: 'blocks',
    meaning: 'No connection comes about, or it ends before the answer does.',
    fix: 'Start the server, open its port, and answer in HTTP.',
    found: answer,
  },
  tls_error: {
    severity: 'blocks',
    meaning: 'TLS fails: the certificate is not valid, not trusted, or for another name.',
    fix: 'Renew the certificate for this name, with its whole chain.',
    found: answer,
  },
  timeout: {
    severity: 'blocks',
    meaning: 'No whole answer comes within ten seconds.',
    fix: 'Answer sooner; what takes long belongs behind the payment.',
    found: answer,
  },
  blocked: {
    severity: 'blocks',
    meaning:
      'The address is not one of a public host: no https, a port of its own, a bare IP address or a private one.',
    fix: 'Serve it by https on port 443 or 8443, under a name that leads to public addresses.',
    found: answer,
  },
  redirect_refused: {
    severity: 'blocks',
    meaning: 'It redirects too often, to another site, or to nowhere; a POST turns into a GET.',
    fix: 'Name the address that answers; redirect on the same site at most, with 307 or 308.',
    found: answer,
  },
  too_large: {
    severity: 'blocks',
    meaning: 'The answer is larger than readers take: 256 KiB for cards, 2 MiB for API descriptions and manifests.',
    fix: 'Cut it, or name a smaller document.',
    found: answer,
  },
  encoded: {
    severity: 'blocks',
    meaning: 'The body is compressed, although the request asked for none.',
    fix: 'Compress only for requests whose Accept-Encoding allows it.',
    found: answer,
  },
  not_found: {
    severity: 'blocks',
    meaning: 'There is nothing at this address: 404 or 410.',
    fix: 'Serve the document there, or correct the address in the registration file.',
    found: answer,
  },
  http_4xx: {
    severity: 'blocks',
    meaning: 'The host refuses the request.',
    fix: 'Let clients without credentials read it by GET; an MCP endpoint takes POST.',
    found: answer,
  },
  http_5xx: {
    severity: 'blocks',
    meaning: 'The server fails.',
    fix: 'Look into the log of the server.',
    found: answer,
  },
  not_json: {
    severity: 'blocks',
    meaning: 'The answer is neither JSON nor an API description in YAML, but a page, perhaps.',
    fix: 'Serve the document itself at this address.',
    found: answer,
  },
  schema_mismatch: {
    severity: 'blocks',
    meaning: 'The answer is no document of this kind; an MCP server did not complete the handshake.',
    fix: 'Compare it with the specification of A2A, MCP, OpenAPI or x402, whichever the registration names.',
    found: answer,
  },
  auth_required: {
    severity: 'informs',
    meaning: 'It wants to know who asks: 401.',
    fix: 'Nothing, if that is meant; strangers cannot see what it offers.',
    found: answer,
  },
  demand_missing: {
    severity: 'blocks',
    meaning: 'The 402 answer demands nothing: neither the header PAYMENT-REQUIRED nor the body says how to pay.',
    fix: 'Send the demand as base64 of JSON in PAYMENT-REQUIRED.',
    found: 'in the 402 answer',
  },
  demand_unreadable: {
    severity: 'blocks',
    meaning: 'The header PAYMENT-REQUIRED is not base64 of JSON.',
    fix: 'Encode the demand as JSON, then as base64.',
    found: 'in the 402 answer',
  },
  demand_version: {
    severity: 'blocks',
    meaning: '`x402Version` is missing, or neither 1 nor 2.',
    fix: 'Say 2, and follow that version.',
    found: 'in the 402 answer',
  },
  demand_without_header: {
    severity: 'blocks',
    meaning: 'A demand of version 2 is only in the body, where clients of version 2 do not look.',
    fix: 'Send it in the header PAYMENT-REQUIRED.',
    found: 'in the 402 answer',
  },
  demand_differs: {
    severity: 'warns',
    meaning: 'Header and body ask for different payments: which one a client sees depends on its version.',
    fix: 'Make both from the same terms.',
    found: 'from the 402 answer, by network, asset, amount and payTo',
  },
  no_way_to_pay: {
    severity: 'blocks',
    meaning: '`accepts` is missing or empty.',
    fix: 'Name at least one way to pay.',
    found: 'in the 402 answer',
  },
  field_missing: {
    severity: 'blocks',
    meaning:
      'A way to pay lacks scheme, network, asset, payTo or its amount (`amount`; `maxAmountRequired` in version 1).',
    fix: 'Add the member.',
    found: demand,
  },
  network_form: {
    severity: 'blocks',
    meaning: 'Version 2 names networks by CAIP-2 (eip155:8453), and this one is named otherwise.',
    fix: 'Write the network by CAIP-2.',
    found: demand,
  },
  network_unknown: {
    severity: 'warns',
    meaning: 'This service does not know the network.',
    fix: 'Check the spelling; nothing, if the network is meant.',
    found: demand,
  },
  testnet: {
    severity: 'warns',
    meaning: 'The network is one for tests: what is paid there is worth nothing.',
    fix: 'Name the main network once you are done testing.',
    found: demand,
  },
  asset_malformed: {
    severity: 'blocks',
    meaning: 'The asset is not the address of a token.',
    fix: 'Write the address of its contract: 0x and 40 hex digits.',
    found: demand,
  },
  asset_elsewhere: {
    severity: 'blocks',
    meaning: 'The asset is the dollar token of another network: nothing is at that address on this one.',
    fix: 'Write the address of the token on the network that is named.',
    found: demand,
  },
  asset_unknown: {
    severity: 'informs',
    meaning: 'The asset is not among the dollar tokens that this service knows on the network.',
    fix: 'Nothing, if the token is meant and takes EIP-3009 or Permit2.',
    found: demand,
  },
  asset_without_code: {
    severity: 'blocks',
    meaning: 'There is no contract at the address of the asset on this network.',
    fix: 'Write the address of the token on the network that is named.',
    found: onChain,
  },
  asset_method: {
    severity: 'blocks',
    meaning:
      'The token cannot be paid with in the way that is asked for: EIP-3009, unless `extra.assetTransferMethod` or the ' +
      'scheme says Permit2. Without this finding, a token for Permit2 is known to have allowances and no more.',
    fix: 'Ask for a token that has EIP-3009, or say `permit2` in `extra.assetTransferMethod`.',
    found: onChain,
  },
  token_domain: {
    severity: 'warns',
    meaning: '`extra` lacks name or version of the token, which clients need to sign an EIP-3009 authorization.',
    fix: 'Add `extra.name` and `extra.version` as the token’s EIP-712 domain has them.',
    found: demand,
  },
  pay_to_malformed: {
    severity: 'blocks',
    meaning: '`payTo` is no address of the network.',
    fix: 'Write an address: 0x and 40 hex digits.',
    found: demand,
  },
  pay_to_zero: {
    severity: 'blocks',
    meaning: '`payTo` is the zero address: tokens refuse to pay it.',
    fix: 'Write the address that is to be paid; often a setting is missing.',
    found: demand,
  },
  pay_to_token: {
    severity: 'blocks',
    meaning: '`payTo` is the contract of a token: what it is paid is lost, or refused.',
    fix: 'Write the address that is to be paid.',
    found: demand,
  },
  pay_to_refused: {
    severity: 'blocks',
    meaning: 'The token refuses to move anything to `payTo`.',
    fix: 'Write an address that the token lets have it; issuers of dollars block some.',
    found: onChain,
  },
  pay_to_stuck: {
    severity: 'blocks',
    meaning: '`payTo` is a contract that can call no other: what it is paid stays there for ever.',
    fix: 'Write the address of a wallet.',
    found: onChain,
  },
  chain_not_checked: {
    severity: 'informs',
    meaning:
      'What the chain says of the token and of `payTo` was not looked at: no node of it is set, none answered, or there ' +
      'are more ways to pay than are looked at.',
    fix: 'Nothing: it says nothing about the endpoint.',
    found:
      'from the settings of this service, where the node did not answer, behind four ways to pay of a place, or 16 new ' +
      'ones of an agent in an hour',
  },
  amount_malformed: {
    severity: 'blocks',
    meaning: 'The amount is no whole number of base units: a decimal point, a sign, or no text.',
    fix: 'Write digits: "10000" is a cent in USDC.',
    found: demand,
  },
  amount_zero: {
    severity: 'warns',
    meaning: 'The amount is zero.',
    fix: 'Answer without a demand, or name a price.',
    found: demand,
  },
  amount_large: {
    severity: 'warns',
    meaning: 'A request costs more than $1,000: the decimals of the token may be mistaken.',
    fix: 'USDC has six decimals: "1000000" is a dollar.',
    found: demand,
  },
  time_to_pay: {
    severity: 'blocks',
    meaning: '`maxTimeoutSeconds` is no positive whole number: each payment has expired when it arrives.',
    fix: 'Write the seconds that a payment stays valid: 60.',
    found: demand,
  },
  time_to_pay_short: {
    severity: 'warns',
    meaning: 'A payment stays valid for less than ten seconds: it may expire before it is settled.',
    fix: 'Allow 60 seconds.',
    found: demand,
  },
  resource_elsewhere: {
    severity: 'warns',
    meaning: 'The demand names a resource on another origin than the endpoint’s: careful clients do not pay it.',
    fix: 'Name the address under which clients reach it, behind proxies too.',
    found: 'in the 402 answer',
  },
  discovery_malformed: {
    severity: 'warns',
    meaning: 'The bazaar extension does not say how the endpoint is called, so that catalogs leave it out.',
    fix: 'Give `info.input` a type and a method or a tool’s name, and `schema` a JSON Schema that stays in itself.',
    found: 'in the 402 answer',
  },
  cors_closed: {
    severity: 'warns',
    meaning:
      'Clients in browsers cannot read the demand: no Access-Control-Allow-Origin, or the header is not exposed.',
    fix: 'Send Access-Control-Allow-Origin, and PAYMENT-REQUIRED in Access-Control-Expose-Headers.',
    found: 'in the 402 answer',
  },
  plain_http: {
    severity: 'warns',
    meaning: 'The registration names the endpoint by http; it is asked by https.',
    fix: 'Write https in the registration file.',
    found: registry,
  },
  unlisted: {
    severity: 'warns',
    meaning: 'The host does not list the agent as its own, so that anybody could have named it.',
    fix: 'Serve /.well-known/agent-registration.json with the registration in `registrations`.',
    found: registry,
  },
  lists_others: {
    severity: 'warns',
    meaning: 'The host, or the registration file, lists registrations of others only.',
    fix: 'Add this registration to `registrations`, with registry and chain.',
    found: registry,
  },
  signature_broken: {
    severity: 'warns',
    meaning: 'The agent card was changed after it was signed.',
    fix: 'Sign it again.',
    found: registry,
  },
  not_answering: {
    severity: 'warns',
    meaning:
      'The card can be read, but what it leads to does not answer a harmless request of its protocol as it should.',
    fix: 'Serve the agent or the server at the address in the card, or correct the address. `detail` says how it answered.',
    found: 'by asking an agent for a task that cannot exist, and an MCP server for its handshake',
  },
  file_unread: {
    severity: 'blocks',
    meaning: 'The registration file cannot be read: it is empty, out of reach, or no JSON.',
    fix: 'Serve it where the agentURI says, or set another agentURI.',
    found: registry,
  },
  no_endpoint: {
    severity: 'blocks',
    meaning: 'No registration names an endpoint, and no document was found.',
    fix: 'Name `services` in the registration file.',
    found: registry,
  },
  pay_to_not_wallet: {
    severity: 'warns',
    meaning: '`payTo` is not the wallet that the registry has for the agent.',
    fix: 'Set the agent’s wallet to the address with setAgentWallet, or ask for payment to the wallet.',
    found: 'as /api/payee finds it: mismatch, owner-only or no-agent-wallet',
  },
} as const satisfies Record<string, FindingKind>

export type FindingCode = keyof typeof findingTable
