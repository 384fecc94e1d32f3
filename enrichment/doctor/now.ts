import { openChains, readChains } from '../../chains.file.ts'
import { createDoor } from '../../net/door.ts'
import { createProofWorld } from '../../social/proof-world.ts'
import { createAgentHosts } from '../agent-hosts.ts'
import { readConfig } from '../config.ts'
import { createOnChain } from '../specs/findings/on-chain.ts'
import { examine } from './examination.ts'

/** Looks at an endpoint by the settings of the environment. */
export async function examineNow(url: URL, env: NodeJS.ProcessEnv) {
  const chains = readChains({ env, file: openChains(env) })
  const { egressAllow, userAgent } = readConfig(env).agentHosts
  const hosts = createAgentHosts({ door: createDoor({ userAgent, egressAllow }), egressAllow, now: () => new Date() })
  const world = createProofWorld(chains)
  const onChain = createOnChain({ nodeOf: world.nodeOf, slot: async () => {}, now: () => new Date() })
  return examine(hosts, onChain, url).finally(() => {
    hosts.host.stop()
    return world.close()
  })
}
