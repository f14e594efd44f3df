// What a start prints on stdout for a person, as one block: where the platform is and what was made.
import type { Platform } from './composition/platform-parts.ts';
import type { Config } from './config.ts';

export function startText(config: Config, platform: Platform): string {
  const base = config.publicUrl;
  const lines: [string, string][] = [
    ['REST interface', `${base}/v3`],
    ['Interface reference', `${base}/docs`],
    ['Live stream', `${base.replace(/^http/, 'ws')}/v3/data-streams`],
    ...(config.mqttPort === 0
      ? []
      : [['MQTT', `${config.host}:${config.mqttPort}`] satisfies [string, string]]),
    ...(config.coapPort === 0
      ? []
      : [['CoAP', `${config.host}:${config.coapPort} (UDP)`] satisfies [string, string]]),
    ['Health', `${base}/health/ready`],
    ['Metrics', `${base}/metrics`],
    ['Data folder', config.dataDirectory],
    ...tenantLines(config, platform),
  ];
  const width = Math.max(...lines.map(([name]) => name.length)) + 2;
  const body = lines.map(([name, value]) => `  ${name.padEnd(width)}${value}`).join('\n');
  return `\nHeliograph is ready on ${config.host}:${platform.port}\n\n${body}\n\n`;
}

function tenantLines(config: Config, { tenant }: Platform): [string, string][] {
  if (tenant === undefined) return [];
  const password = tenant.generatedPassword;
  return [
    ['Organization', tenant.organizationId],
    ['Workspace', tenant.workspaceId],
    ...(tenant.isNew ? [['Owner', config.adminEmail] satisfies [string, string]] : []),
    ...(password === null
      ? []
      : [['Password', `${password}  (shown this once)`] satisfies [string, string]]),
    ...(tenant.apiKeyId === null
      ? []
      : [
          ['API key', `${tenant.apiKeyId}  (its secret is ADMIN_API_KEY)`] satisfies [
            string,
            string,
          ],
        ]),
  ];
}
