import { openChainsFile, readChains } from '../../chains.file.ts'
import { createDoor } from '../../net/door.ts'
import { createAgentHosts } from '../agent-hosts.ts'
import { readConfig } from '../config.ts'
import { examine } from './examination.ts'

/** Looks at an endpoint by the settings of the environment. */
export async function examineNow(url: URL, env: NodeJS.ProcessEnv) {
  readChains({ env, file: openChainsFile(env.CHAINS_FILE) })
  const { egressAllow, userAgent } = readConfig(env).agentHosts
  const hosts = createAgentHosts({ door: createDoor({ userAgent, egressAllow }), egressAllow, now: () => new Date() })
  return examine(hosts, url).finally(() => hosts.host.stop())
}
