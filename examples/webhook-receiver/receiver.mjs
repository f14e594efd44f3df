// Receives webhooks: verifies the signature, responds at once, and handles each delivery once.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { WEBHOOK_SECRET = '', PORT = '3000', HOST = '127.0.0.1' } = process.env;
if (WEBHOOK_SECRET === '') throw new Error('set WEBHOOK_SECRET to the hmacSecret of the webhook');
const bodyBytesMax = 1_048_576;
/** A request that is older was recorded and sent again: each attempt is signed with its own time. */
const toleranceSeconds = 300;
/** Attempts of a delivery span 18 hours. A longer memory belongs in a database. */
const deliveriesMax = 100_000;
const handled = new Set();

/** Your work. The response is sent already, so it can take its time. */
async function handle(sample) {
  console.log(`${sample.timestamp ?? ''} ${JSON.stringify(sample.data ?? sample)}`);
}

/** Returns why a request is rejected, or undefined for a valid one. */
function faultOf(headers, body) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const signature = headers['webhook-signature'];
  if (id === undefined || timestamp === undefined || signature === undefined) return 'not signed';
  const expected = createHmac('sha256', WEBHOOK_SECRET)
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest();
  const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    return 'wrong signature';
  const ageSeconds = Math.abs(Date.now() / 1000 - Number(timestamp));
  return ageSeconds <= toleranceSeconds ? undefined : 'too old';
}

/** Resolves with the bytes as they were sent; the signature is of these. */
async function bodyOf(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** True for the first request of a delivery; forgets the oldest one when the memory is full. */
function isFirst(id) {
  if (handled.has(id)) return false;
  handled.add(id);
  if (handled.size > deliveriesMax) handled.delete(handled.values().next().value);
  return true;
}

const server = createServer(async (request, response) => {
  try {
    const body = await bodyOf(request);
    if (body === undefined) return response.writeHead(413).end();
    const fault = faultOf(request.headers, body);
    if (fault !== undefined) {
      console.error(`rejected: ${fault}`);
      return response.writeHead(401).end(fault);
    }
    const sample = JSON.parse(body.toString());
    // A repeated delivery gets the same response, or the platform would send it again.
    response.writeHead(204).end();
    if (isFirst(request.headers['webhook-id'])) await handle(sample);
  } catch (error) {
    console.error(error);
    if (!response.headersSent) response.writeHead(400).end();
  }
});
server.listen(Number(PORT), HOST, () => {
  console.log(`listening on http://${HOST}:${server.address().port}`);
});
