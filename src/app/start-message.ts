// Start message: addresses of the platform and what the start created, printed on stdout as one block.
import type { DemoCredentials } from './demo.ts';
import type { Platform } from './platform-parts.ts';
import type { Config } from './config/config.ts';

/** A name and its value. */
type Line = [string, string];

/** `demo` has the credentials that a demo prints at each start. */
export function startText(config: Config, platform: Platform, demo?: DemoCredentials): string {
  const base = platform.publicUrl;
  const lines: Line[] = [
    ['Console', `${base}/`],
    ['REST API', `${base}/v3`],
    ['API reference', `${base}/docs`],
    ['Live stream', `${base.replace(/^http/, 'ws')}/v3/data-streams`],
    ...deviceLines(config),
    ['Health', `${base}/health/ready`],
    ['Metrics', `${base}/metrics`],
    ['Data folder', config.dataDirectory],
    ...(demo === undefined ? tenantLines(config, platform) : demoLines(config, platform, demo)),
  ];
  const width = Math.max(...lines.map(([name]) => name.length)) + 2;
  const body = lines.map(([name, value]) => `  ${name.padEnd(width)}${value}`).join('\n');
  return `\nHeliograph is ready on ${config.host}:${platform.port}\n\n${body}\n\n`;
}

/** Ports of devices; a port of 0 is not opened. */
function deviceLines({ host, mqttPort, coapPort }: Config): Line[] {
  const lines: Line[] = [];
  if (mqttPort !== 0) lines.push(['MQTT', `${host}:${mqttPort}`]);
  if (coapPort !== 0) lines.push(['CoAP', `${host}:${coapPort} (UDP)`]);
  return lines;
}

function tenantLines({ adminEmail }: Config, { tenant }: Platform): Line[] {
  if (tenant === undefined) return [];
  const { organizationId, workspaceId, isNew, generatedPassword, apiKeyId } = tenant;
  const lines: Line[] = [
    ['Organization', organizationId],
    ['Workspace', workspaceId],
  ];
  if (isNew) lines.push(['Owner', adminEmail]);
  if (generatedPassword !== null)
    lines.push(['Password', `${generatedPassword}  (shown only once)`]);
  if (apiKeyId !== null) lines.push(['API key', `${apiKeyId}  (secret: ADMIN_API_KEY)`]);
  return lines;
}

function demoLines({ adminEmail }: Config, { tenant }: Platform, demo: DemoCredentials): Line[] {
  return [
    ['Organization', tenant?.organizationId ?? ''],
    ['Owner', adminEmail],
    ['Password', demo.password ?? 'as ADMIN_PASSWORD of the first start, or as changed since'],
    ['API key', demo.apiKey],
  ];
}
