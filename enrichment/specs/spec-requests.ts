import { agentPorts } from '../../config/hosts.ts'
import { second } from '../../ops/time.ts'
import type { AgentHosts } from '../agent-hosts.ts'

/** Bounds of every request to an agent's own host. `timeoutMs` is in milliseconds; `ports` are those besides 443. */
export const specRequests = { timeoutMs: 10 * second, ports: agentPorts }

/** The limit of requests to a host was reached. */
export class RequestsSpent extends Error {
  override readonly name = 'RequestsSpent'
}

/** Hosts whose requests are counted: throws RequestsSpent where `spend` says that a host has had its last one. */
export function countedHosts(hosts: AgentHosts, spend: (host: string) => boolean): AgentHosts {
  return {
    ...hosts,
    async fetch(url, options) {
      if (!spend(url.host)) throw new RequestsSpent(url.host)
      return await hosts.fetch(url, options)
    },
  }
}
