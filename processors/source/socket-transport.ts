import { type RpcCall, RpcError, type RpcTransport } from '../rpc-client.ts'
import type { SdkClient } from './sdk.ts'

/** JSON-RPC over a WebSocket, by the SDK's client: it opens the socket again when it breaks. */
export class SocketTransport implements RpcTransport {
  constructor(private readonly client: SdkClient) {}

  get url(): string {
    return this.client.url
  }

  async send(calls: readonly RpcCall[]): Promise<unknown[]> {
    try {
      return await this.client.batchCall(calls, { retryAttempts: 0, validateError: (error) => RpcError.of(error) })
    } catch (error) {
      if ((error as Error).name !== 'RpcProtocolError') throw error
      return calls.map(() => new RpcError((error as Error).message, 'malformed'))
    }
  }

  subscribe(subscription: unknown): unknown {
    return this.client.subscribe(subscription)
  }

  reset(reason?: Error): void {
    this.client.reset(reason)
  }
}
