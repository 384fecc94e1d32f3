import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listFiles, root } from '../support/source-files.ts'

interface PrintedCommand {
  /** The document, relative to the project. */
  readonly file: string
  readonly command: string
}

/**
 * Documents in the order in which somebody reads them who begins with the README, those that want its world first; those
 * that print no commands too.
 */
const documents = [
  ...new Set([
    'README.md',
    'docs/claiming.md',
    'docs/log.md',
    'docs/proofs.md',
    'client/README.md',
    'docs/endpoints.md',
    'docs/agent0.md',
    'docs/exports.md',
    'docs/install.md',
    'docs/running.md',
    'docs/indexing.md',
    ...listFiles().filter((path) => /^([A-Z]+\.md|client\/README\.md|docs\/.*\.md)$/.test(path)),
  ]),
]

/** The commands of all fences for a shell, in the order of the documents; one may go on behind a backslash. */
export const printedCommands: readonly PrintedCommand[] = documents.flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block]) =>
    (block as string)
      .trim()
      .replaceAll(/\\\n */g, '')
      .split('\n')
      .map((command) => ({ file, command })),
  ),
)

/** Fences of other kinds than these hold no commands: a command stands where these tests see it. */
export const otherFences = documents.flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^ *```(\w+)\n/gm)]
    .map(([, kind]) => ({ file, kind }))
    .filter(({ kind }) => !['sh', 'sql', 'ts', 'json', 'graphql', 'nginx', 'ini', 'yaml'].includes(kind as string)),
)

/** Lines that are indented as code and begin as commands do, which would be in no fence. */
export const indentedCommands = documents.flatMap((file) =>
  [
    ...readFileSync(join(root, file), 'utf8')
      .replace(/^ *```[\s\S]*?^ *```$/gm, '')
      .matchAll(/^ {4,}(\S+) .*$/gm),
  ]
    .filter(([, program]) =>
      /^(npm|npx|node|docker|kubectl|curl|jq|openssl|rclone|agent-directory|[A-Z_]+=.*)$/.test(program as string),
    )
    .map(([line]) => ({ file, line })),
)

/** Commands that `printed.endurance.test.ts` runs as they are printed, next to `npm start`. */
export const walked: readonly string[] = [
  'npm start',
  'set -a; . ./.data/devnet.env; set +a',
  'curl http://127.0.0.1:3000/api/agent/1001',
  'curl http://127.0.0.1:3000/api/leaderboard',
  'curl http://127.0.0.1:3000/api/agent/1001/explain',
  'npm run claim -- --method eip191 --fid 1001 --private-key - --dry-run',
  'npm run claim -- --method eip191 --fid 1001 --private-key -',
  'npm run reader -- --name ana',
  'npm run export -- --what settlements --format parquet --out .data/settlements --chain base',
  'curl http://127.0.0.1:3000/feed.atom',
  'curl http://127.0.0.1:3000/api/agent/1001/income',
  'curl http://127.0.0.1:3000/api/discovery?claimed=claimed',
  'npm run mirror -- --api http://127.0.0.1:3000 --file agents.json',
  'npm run witness -- --of http://127.0.0.1:3000 --name witness.example/w1',
  "curl 'http://127.0.0.1:3000/api/agent/1001?signed=1' > kept.json",
  'curl http://127.0.0.1:3000/.well-known/jwks.json > keys.json',
  'openssl genpkey -algorithm ed25519 -out log-key.pem',
  'openssl genpkey -algorithm ed25519 >> log-key.pem',
  'npm run build',
  'cp dist/verify-proof.mjs .',
  'node verify-proof.mjs --self-test',
  'npm run build --workspace client',
  'node_modules/.bin/node client/dist/client/main.js agent @genesis --api http://127.0.0.1:3000',
  'export AGENT_DIRECTORY_URL=http://127.0.0.1:3000',
  'agent-directory agents --chain base --claimed true --all --format csv',
  'agent-directory agent 1001',
  'agent-directory agent @genesis',
  'agent-directory settlements --fid 1001 --limit 100',
  'agent-directory mirror --file agents.json --follow',
  'agent-directory mirror --file agents.json --from snapshot',
  'agent-directory mirror --file all.json --from snapshot --api http://127.0.0.1:3000',
  `npm run doctor -- "$(jq -r '.agent_hosts.agents["1001"]' .data/devnet.json)/.well-known/agent-card.json"`,
  "jq -r '.files[].path' /srv/exports/manifest.json > keep.txt",
  "echo '/*.json' >> keep.txt",
  'cp .env.example .env',
  'chmod 600 .env',
  'npm run claims -- export claims.ndjson',
  'set -a; . ./.env; set +a',
  'curl http://127.0.0.1:3000/api/stats',
  'npm run migrate',
  `curl http://127.0.0.1:3000/subgraph/8453 --header 'Content-Type: application/json' --data '{"query":"{ agents(first: 3, orderBy: updatedAt, orderDirection: desc) { id owner registrationFile { name } } }"}'`,
  'npm start -- --history',
  'npm run backfill -- --all --plan',
  'npm run backfill -- --all',
  'npm run coverage',
  'npm run backup -- --out .data/backup',
  'npm run generate -- deploy --chains base,avalanche,bsc --out .data/deployment',
  'mv .data/postgres .data/postgres.old',
  'env --unset DATABASE_URL npm run restore -- --from .data/backup',
]

interface Elsewhere {
  readonly command: RegExp
  /** Why it is not run next to the local world. */
  readonly why: string
  /** The tests, or the script of CI, that run it, what it starts, or what it is given, or what it names. */
  readonly by: readonly string[]
}

/** Commands that cannot be run as printed on a local world, and what runs them otherwise. */
export const elsewhere: readonly Elsewhere[] = [
  { command: /^npm (ci|test|run check)$/, why: 'are steps of CI themselves', by: ['.ci/run'] },
  { command: /^npx vitest run /, why: 'runs tests, which a test does not', by: ['.ci/run'] },
  {
    command: /^npm run start:mainnet$/,
    why: 'reads the public networks until it is stopped',
    by: ['test/stack/main.endurance.test.ts'],
  },
  {
    command: /^npm run (processor -- base|enrichment|api|graphql)$/,
    why: 'run until they are stopped, and the local world has one of each',
    by: ['test/stack/main.endurance.test.ts'],
  },
  {
    command: /^npm run enrichment -- --once --source socialindex --fid 3$/,
    why: 'asks a service with a key, for an account of the real network',
    by: ['test/enrichment/process.test.ts', 'test/ground/printed-elsewhere.test.ts'],
  },
  {
    command: /^npm run backfill -- --chain base --from 2797221 --to 41663782 (--workers 2|--abandon)$/,
    why: 'loads years of a real chain',
    by: ['test/processors/backfill/abandon.endurance.test.ts', 'test/ground/printed-elsewhere.test.ts'],
  },
  {
    command: /^npm run reset -- --chain base (--to 41700000|--all)$/,
    why: 'names a block of a real chain, whose processor must not run',
    by: ['test/chain/reset.endurance.test.ts', 'test/ground/printed-elsewhere.test.ts'],
  },
  {
    command: /^npm run enrichment -- --accept-hub-totals$/,
    why: 'answers an alert about a hub that has lost accounts',
    by: ['test/enrichment/belief.test.ts', 'test/ground/printed-elsewhere.test.ts'],
  },
  {
    command: /^docker (compose|run) /,
    why: 'needs a Docker daemon and a registry: the images are built and their processes run without one, the file is compared with the specification and with what the build makes, and printed services and programs with the file',
    by: [
      'test/ground/image.endurance.test.ts',
      'test/ground/deployment.test.ts',
      'test/ground/printed-elsewhere.test.ts',
    ],
  },
  {
    command:
      /^(apt-get|useradd|git clone|chown|su|cd|editor|install|certbot|nginx|systemctl|\/usr\/share\/postgresql-common\/\S+) /,
    why: 'changes a machine, as root: what is installed there is looked at by systemd, and run from a build; files are put into a folder in place of /etc',
    by: [
      'test/ground/deployment.test.ts',
      'test/ground/build.endurance.test.ts',
      'test/ground/printed-elsewhere.test.ts',
    ],
  },
  { command: /^kubectl apply /, why: 'needs a cluster', by: ['test/house/kubernetes.test.ts'] },
  {
    command: /^node_modules\/\.bin\/node dist\/(db|api)\/main\.js$/,
    why: 'are begun where the local world has ended, with a database of their own',
    by: ['test/ground/build.endurance.test.ts'],
  },
  {
    command: /^npm run claims -- import claims\.ndjson$/,
    why: 'is for a database that is empty, which that of the local world is not',
    by: ['test/claim/published-proof.test.ts', 'test/ground/printed-elsewhere.test.ts'],
  },
  {
    command: /^(curl -o proof\.json https:\/\/api\.example|node verify-proof\.mjs proof\.json)/,
    why: 'want a proof, which is published a quarter of an hour after the claim, and public networks',
    by: ['test/ground/build.endurance.test.ts'],
  },
  {
    command: /^npm run reader -- --name ana --seconds 30 --connections 4$/,
    why: 'is the README’s with what it may be given: who reads at once would have the login of before',
    by: ['test/contract/confined-reader.test.ts', 'test/ground/printed-elsewhere.test.ts'],
  },
  {
    command: /^EXPORT_DIR=\/srv\/exports npm run export -- --served --every 60$/,
    why: 'runs until it is stopped, for a folder of the machine',
    by: ['test/export/served.test.ts'],
  },
  {
    command: /^rclone /,
    why: 'needs a bucket of an object storage: no test runs it, and the files that it carries away are those of the export',
    by: ['test/export/served.test.ts'],
  },
]

/** The command's row of `elsewhere`; undefined: it is walked, or known to nobody. */
export const elsewhereOf = (command: string) => elsewhere.find((one) => one.command.test(command))
