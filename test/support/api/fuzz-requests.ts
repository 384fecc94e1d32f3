import fc from 'fast-check'
import { documentedPages } from '../../../api/docs/openapi.ts'
import { routes } from '../../../api/routes.ts'
import { addressOf } from '../seed.ts'

export interface FuzzRequest {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

/** Requests over all routes and the subgraph: mostly almost right, some of them nonsense. */
export function fuzzRequests(): fc.Arbitrary<FuzzRequest> {
  return fc.oneof({ weight: 15, arbitrary: routeRequests() }, { weight: 1, arbitrary: subgraphRequests() })
}

function routeRequests(): fc.Arbitrary<FuzzRequest> {
  return fc.record({
    method: fc.oneof(
      { weight: 12, arbitrary: fc.constant('GET') },
      { weight: 1, arbitrary: fc.constantFrom('HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PURGE') },
    ),
    path: fc.tuple(path, query).map(([where, what]) => where + what),
    headers: fc.dictionary(headerName, headerValue, { maxKeys: 4, noNullPrototype: true }),
    body: fc.option(fc.string({ maxLength: 50 }), { nil: undefined, freq: 10 }),
  })
}

/** Filters, orders and pages of agents, as variables of an operation that is right. */
function subgraphRequests(): fc.Arbitrary<FuzzRequest> {
  const text = fc.oneof(address, number, word, fc.string({ unit: 'binary', maxLength: 20 }))
  const value = fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.integer(), fc.jsonValue({ maxDepth: 2 }))
  const fields = ['id', 'owner', 'operators', 'agentWallet', 'agentURI', 'agentId', 'totalFeedback', 'createdAt']
  const endings = ['', '_not', '_in', '_not_in', '_gt', '_lte', '_contains', '_not_contains_nocase', '_ends_with']
  const filter = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.tuple(fc.constantFrom(...fields), fc.constantFrom(...endings)).map((two) => two.join('')),
    },
    { weight: 1, arbitrary: fc.constantFrom('and', 'or', 'registrationFile_', '__proto__', 'constructor', '') },
  )
  const variables = fc.record({
    where: fc.dictionary(filter, value, { maxKeys: 2, noNullPrototype: true }),
    first: fc.oneof(fc.integer({ min: -1, max: 1_001 }), fc.jsonValue({ maxDepth: 1 })),
    orderBy: fc.constantFrom('id', 'name', 'lastActivity', 'updatedAt', 'nothing'),
  })
  const query = `query ($where: Agent_filter, $first: Int, $orderBy: Agent_orderBy) {
    agents(where: $where, first: $first, orderBy: $orderBy) { id operators registrationFile { name } metadata { key } } }`
  return fc.record({
    method: fc.constant('POST'),
    path: fc.oneof(
      fc.constantFrom('/subgraph', '/subgraph/8453', '/subgraph/base'),
      encoded.map((chain) => `/subgraph/${chain}`),
    ),
    headers: fc.constant({ 'content-type': 'application/json' }),
    body: variables.map((given) => JSON.stringify({ query, variables: given })),
  })
}

/** Any text, percent-encoded, sometimes wrongly so. */
const encoded = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 30 }).map(encodeURIComponent) },
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => encodeURIComponent(text)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('%', '%zz', '%E0%A4%A', '%00', '%0d%0a', '%ff', '%C0%80', '..%2f..', '%252e', '+'),
  },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom('%', '0', 'a', 'F', '/', '.', ';', '~'), maxLength: 12 }) },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 3_000 }).map((length) => 'x'.repeat(length)) },
)

const number = fc.oneof(
  fc.integer({ min: -5, max: 120 }).map(String),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.double().map((value) => encodeURIComponent(String(value))),
  fc.constantFrom('0', '00', '1e3', '0x10', '1.0', '9007199254740993', '9223372036854775808', '%31', '-0', 'NaN'),
)

const address = fc.oneof(
  fc.integer({ min: 1, max: 60 }).map((fid) => addressOf(`agent ${fid}`)),
  fc
    .string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 38, maxLength: 42 })
    .map((hex) => `0x${hex}`),
  encoded,
)
const fid = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 60 }).map(String) }, number, encoded)

/** Paths of every GET in openapi.json but endless streams, with values for their parameters; and unknown paths. */
const path = fc.oneof(
  {
    weight: 18,
    arbitrary: fc
      .tuple(fc.constantFrom(...routes, ...documentedPages), fid, address, encoded)
      .map(([route, ...values]) =>
        route.path.replaceAll(/\{(\w+)\}/g, (_, name) => values[name === 'fid' ? 0 : name === 'address' ? 1 : 2]),
      ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('/', '/healthz', '/openapi.json', '/docs', '/api', '/data', '/API/stats', '//'),
  },
  { weight: 2, arbitrary: fc.array(encoded, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`) },
)

const word = fc.constantFrom(
  ...[
    'all',
    'claimed',
    'unclaimed',
    'true',
    'false',
    'newest',
    'oldest',
    'cross-chain',
    'most-active',
    'most-earned',
    '7d',
    '30d',
  ],
  ...[
    'active',
    'jfs',
    'asc',
    'handle,chains',
    '2026-03-01T00:00:00Z',
    '0xe3ee160e',
    '0.5',
    '1,2,x',
    'AQ',
    'historical',
  ],
  ...['Eth', 'base', '42220', 'ARB', 'OP', 'poly', 'gnosis', 'solana', 'agent', 'bio', '__proto__', 'constructor', ''],
)
const parameters = [...new Set(routes.flatMap(({ query }) => Object.keys(query.shape)))]
const name = fc.oneof(
  { weight: 18, arbitrary: fc.constantFrom(...parameters) },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'q[]', 'q[a]', 'LIMIT', 'toString', '') },
)
const query = fc
  .array(fc.tuple(name, fc.oneof(word, number, address, encoded)), { maxLength: 5 })
  .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map(([key, value]) => `${key}=${value}`).join('&')}`))

const headerName = fc.constantFrom(
  ...['accept', 'accept-encoding', 'if-none-match', 'if-modified-since', 'origin', 'range', 'cache-control', 'x-fid'],
  ...['x-forwarded-for', 'x-request-id', 'content-type', 'expect-nothing', 'cookie', 'authorization', 'te'],
)
const headerValue = fc.oneof(
  fc.constantFrom('gzip', 'br', 'gzip;q=0', '*', '"x"', 'W/"x", *', 'bytes=0-1', 'null', 'http://localhost:1', '1, 2'),
  fc.string({ unit: fc.constantFrom(...'abc,;="*/ \\()<>@:?[]{}01'), maxLength: 60 }),
)
