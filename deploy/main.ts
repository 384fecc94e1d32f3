import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openChains, readChains } from '../config/chains.file.ts'
import { runCommand, UsageError } from '../ops/cli.ts'
import { deploymentFiles } from './files.ts'

const usage = `
npm run generate -- deploy --chains LIST --out FOLDER

Writes the deployment files of an installation that indexes these chains: docker-compose.yml, squid.yaml, the target of
systemd, the alerts, and the files for Kubernetes. docs/chains.md lists the chains that are ready-made; others have their rows in
the file that CHAINS_FILE names.

--chains  names of the chains, separated by commas; ready-made ones and those of the table that are not named are off
--out     folder that is not there yet, or empty
`

const options = { chains: { type: 'string' }, out: { type: 'string' } } as const

await runCommand({ usage, options }, async ({ values: { chains, out } }) => {
  if (!chains?.replaceAll(/[\s,]/g, '')) throw new UsageError('--chains must name the chains (see --help)')
  if (!out) throw new UsageError('--out must name a folder (see --help)')
  if (existsSync(out) && readdirSync(out).length > 0) throw new UsageError(`--out ${out} has files already`)
  const env = { ...process.env, CHAINS: chains }
  const file = openChains(env)
  const enabled = Object.values(readChains({ env, file })).flatMap((chain) => (chain.enabled ? [chain.name] : []))
  const { CHAINS_FILE } = process.env
  const chainsFile = CHAINS_FILE ? readFileSync(CHAINS_FILE, 'utf8') : undefined
  const files = Object.entries(deploymentFiles(enabled, chainsFile))
  for (const [path, text] of files) {
    mkdirSync(dirname(join(out, path)), { recursive: true })
    writeFileSync(join(out, path), text)
  }
  console.log(`${files.length} files for ${enabled.join(', ')} are in ${out}`)
})
