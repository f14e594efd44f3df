// Health check of the container: exit code 0 while the platform serves requests.
const port = process.env.PORT ?? '8080';

try {
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`, {
    signal: AbortSignal.timeout(4_000),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
