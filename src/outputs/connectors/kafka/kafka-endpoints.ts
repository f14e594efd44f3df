// Kafka endpoints: hosts and ports out of a list of bootstrap servers.
import { type Endpoint, targetUri } from '../target-uri.ts';

const ports = { kafka: 9092 };

/** Reads `host:port,host:port`; undefined when an element is anything else. */
export function kafkaEndpoints(text: string): readonly Endpoint[] | undefined {
  const endpoints: Endpoint[] = [];
  for (const server of text.split(',')) {
    const uri = targetUri(`kafka://${server.trim()}`, ports);
    if (uri === undefined || uri.path !== '') return undefined;
    endpoints.push({ host: uri.host, port: uri.port });
  }
  return endpoints;
}
