// Output to chat rooms: a text, filled in, to the incoming webhook of Slack or Microsoft Teams.
import type { OutputConnectorType } from '../model/connector.ts';
import type { MsTeamsProperties, SlackProperties } from '../model/message-properties.ts';
import { renderTemplate } from '../templates/render-template.ts';
import { parseTemplate } from '../templates/template.ts';
import type { OutboundConnector } from './target.ts';
import { call, failureOf, outcomeOf } from './http-answer.ts';

interface Chat {
  readonly type: OutputConnectorType;
  readonly key: string;
  readonly urlName: string;
  readonly read: (properties: never) => { readonly message: string; readonly url: string };
  readonly body: (text: string) => unknown;
}

function chatConnector({ type, key, urlName, read, body }: Chat): OutboundConnector {
  return {
    type,
    check(properties, egress) {
      const { message, url } = read(properties as never);
      egress.checkUrl(url, `${key}.${urlName}`);
      parseTemplate(message, 'text', `body ${key}.message`);
    },
    open(properties, egress, now) {
      const { message, url } = read(properties as never);
      const template = parseTemplate(message, 'text');
      const dispatcher = egress.dispatcher();
      return {
        async send({ deliveryId, context }, signal) {
          try {
            const sent = renderTemplate(template, context);
            const headers = {
              'content-type': 'application/json',
              'x-delivery-id': deliveryId,
              'idempotency-key': deliveryId,
            };
            const request = { method: 'POST', url, headers, body: JSON.stringify(body(sent)) };
            return { ...outcomeOf(await call(request, signal, dispatcher), now), sent };
          } catch (error) {
            return failureOf(error, signal);
          }
        },
        close: async () => {},
      };
    },
  };
}

export const slackConnector = chatConnector({
  type: 'SLACK',
  key: 'slackProperties',
  urlName: 'webhookUrl',
  read: ({ message, webhookUrl }: SlackProperties) => ({ message, url: webhookUrl }),
  body: (text) => ({ text }),
});

/** A card, which both kinds of incoming webhooks show, and the text for those that read no cards. */
export const msTeamsConnector = chatConnector({
  type: 'MS_TEAMS',
  key: 'msTeamsProperties',
  urlName: 'notificationUrl',
  read: ({ message, notificationUrl }: MsTeamsProperties) => ({ message, url: notificationUrl }),
  body: (text) => ({
    type: 'message',
    text,
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          type: 'AdaptiveCard',
          version: '1.4',
          body: [{ type: 'TextBlock', text, wrap: true }],
        },
      },
    ],
  }),
});
