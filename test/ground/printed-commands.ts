import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listFiles, root } from '../support/source-files.ts'

interface PrintedCommand {
  /** The document, relative to the project. */
  readonly file: string
  readonly command: string
}

/** Documents in the order in which somebody reads them who begins with the README; those that print no commands too. */
const documents = [
  ...new Set([
    'README.md',
    'docs/claiming.md',
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

/** Commands that `printed.endurance.test.ts` runs as they are printed, beside `npm start`. */
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
  'npm run build --workspace client',
  'node_modules/.bin/node client/dist/client/main.js agent 1001 --api http://127.0.0.1:3000',
  'node_modules/.bin/node client/dist/client/main.js agent @genesis --api http://127.0.0.1:3000',
  'cp .env.example .env',
  'curl http://127.0.0.1:3000/api/discovery?claimed=claimed',
  'set -a; . ./.env; set +a',
  'curl http://127.0.0.1:3000/api/stats',
  'npm run migrate',
  'npm start -- --history',
  'npm run backfill -- --all --plan',
  'npm run backfill -- --all',
  'npm run coverage',
  'npm run backup -- --out .data/backup',
  'mv .data/postgres .data/postgres.old',
  'env --unset DATABASE_URL npm run restore -- --from .data/backup',
]

interface Elsewhere {
  readonly command: RegExp
  /** Why it is not run beside the local world. */
  readonly why: string
  /** The tests, or the script of CI, that run it, what it starts, or what it is given. */
  readonly by: readonly string[]
}

/** Commands that cannot be run as printed on a local world, and what runs them otherwise. */
export const elsewhere: readonly Elsewhere[] = [
  { command: /^npm (ci|test|run check|run build)$/, why: 'are steps of CI themselves', by: ['.ci/run'] },
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
    by: ['test/enrichment/process.test.ts'],
  },
  {
    command: /^npm run backfill -- --chain base --from 2797221 --to 41663782 (--workers 2|--abandon)$/,
    why: 'loads years of a real chain',
    by: ['test/processors/backfill/abandon.endurance.test.ts'],
  },
  {
    command: /^npm run reset -- --chain base (--to 41700000|--all)$/,
    why: 'names a block of a real chain, whose processor must not run',
    by: ['test/chain/reset.endurance.test.ts'],
  },
  {
    command: /^npm run enrichment -- --accept-hub-totals$/,
    why: 'answers an alert about a hub that has lost accounts',
    by: ['test/enrichment/belief.test.ts'],
  },
  {
    command: /^docker (compose|run) /,
    why: 'needs a Docker daemon and a registry: the images are built and their processes run without one, the file is compared with the specification and with what the build makes',
    by: ['test/ground/image.endurance.test.ts', 'test/ground/deployment.test.ts'],
  },
  {
    command:
      /^(apt-get|useradd|git clone|chown|chmod|su|cd|editor|install|certbot|nginx|systemctl|\/usr\/share\/postgresql-common\/\S+) /,
    why: 'changes a machine, as root: what is installed there is looked at by systemd, and run from a build',
    by: ['test/ground/deployment.test.ts', 'test/ground/build.endurance.test.ts'],
  },
  { command: /^kubectl apply /, why: 'needs a cluster', by: ['test/house/kubernetes.test.ts'] },
  {
    command: /^node_modules\/\.bin\/node dist\/(db|api)\/main\.js$/,
    why: 'need the whole build',
    by: ['test/ground/build.endurance.test.ts'],
  },
  {
    command: /^npm run claims -- (export|import) claims\.ndjson$/,
    why: 'are for an installation that runs and one that is empty',
    by: ['test/claim/published-proof.test.ts'],
  },
  {
    command: /^(curl -o proof\.json https:\/\/api\.example|node verify-proof\.mjs )/,
    why: 'are for a machine that has nothing of this project',
    by: ['test/ground/build.endurance.test.ts'],
  },
  {
    command: /^curl '?https:\/\/api\.example\/(api\/agent\/1001\?signed=1'|\.well-known\/jwks\.json) >/,
    why: 'ask a service that signs, for whoever keeps what it says',
    by: ['test/transparency/signed-answers.test.ts'],
  },
  {
    command: /^npm run reader -- --name ana --seconds 30 --connections 4$/,
    why: 'is the README’s with what it may be given: who reads at once would have the login of before',
    by: ['test/contract/confined-reader.test.ts'],
  },
  {
    command: /^agent-directory /,
    why: 'is the client where it is installed: the README runs it from the build',
    by: ['test/client/client.test.ts'],
  },
  {
    command: /^EXPORT_DIR=\/srv\/exports npm run export -- --served --every 60$/,
    why: 'runs until it is stopped, for a folder of the machine',
    by: ['test/export/served.test.ts'],
  },
  {
    command: /^(rclone |jq -r '\.files|echo '\/\*\.json' )/,
    why: 'needs a bucket of an object storage: no test runs it, and the files that it carries away are those of the export',
    by: ['test/export/served.test.ts'],
  },
  {
    command: /^npm run witness -- --of https:/,
    why: 'runs until it is stopped, beside a service that is somebody else’s',
    by: ['test/transparency/witness.test.ts'],
  },
  {
    command: /^npm run mirror -- --api https:/,
    why: 'is for a service that has a transparency log',
    by: ['test/transparency/lying-log.test.ts'],
  },
  {
    command: /^openssl genpkey /,
    why: 'makes a key for an installation; a key of that kind is read by tests',
    by: ['test/transparency/claims.test.ts'],
  },
]

/** The command's row of `elsewhere`; undefined: it is walked, or known to nobody. */
export const elsewhereOf = (command: string) => elsewhere.find((one) => one.command.test(command))
