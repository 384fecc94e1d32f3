import { RpcClient, type RpcTransport } from '../rpc-client.ts'
import { HttpTransport } from '../rpc-http.ts'

/** Attempts after which a failure is passed on and logged: who reads history has a policy of retries of its own. */
const attempts = 4

/** A client for reading history at a node with an HTTP or WebSocket address. `batch`: most calls in one request. */
export function clientAt(url: string, batch = 1): RpcClient {
  return new RpcClient(url.startsWith('http') ? new HttpTransport(url) : lazySocket(url), { batch, attempts })
}

/** The SDK's client, for WebSocket addresses. Loaded when first needed: that takes half a second and is rare. */
function lazySocket(url: string): RpcTransport {
  let opened: Promise<RpcTransport> | undefined
  const open = async () => {
    const [{ checkSdk, SdkProcessor }, { SocketTransport }] = await Promise.all([
      import('../source/sdk.ts'),
      import('../source/socket-transport.ts'),
    ])
    checkSdk()
    const processor = new SdkProcessor()
    processor.setRpcEndpoint(url)
    return new SocketTransport(processor.getChainRpcClient())
  }
  return {
    url,
    async send(calls) {
      opened ??= open()
      return (await opened).send(calls)
    },
  }
}
