// Hook on what the settings of a device can be chosen from: flows, tags and custom fields.
import { useQuery } from '@tanstack/react-query';
import { ask, platform } from '../../../api/platform.ts';
import { customFieldsOf } from '../../../api/custom-fields.ts';
import { tagsOf } from '../../../api/tags.ts';
import type { Device } from '../data/device-queries.ts';

/** More than these are chosen by search, on the screens of flows and tags. */
const choicesMax = 1_000;

export function useChoices({ workspaceId, connectivity, dataFlow }: Device) {
  const params = { query: { workspaceId, size: choicesMax } };
  const flows = useQuery({
    queryKey: ['flows', workspaceId],
    queryFn: ({ signal }) => ask(platform.GET('/v3/data-flows', { signal, params })),
  });
  const tags = useQuery(tagsOf(workspaceId));
  const fields = useQuery(customFieldsOf(workspaceId));
  const fitting = (flows.data?.content ?? []).filter(
    ({ deviceConnector }) => deviceConnector.connectivity === connectivity,
  );
  const isOwnKnown = fitting.some(({ id }) => id === dataFlow.id);
  const own = { id: dataFlow.id, name: dataFlow.name };
  return {
    flows: [...(isOwnKnown ? [] : [own]), ...fitting.map(({ id, name }) => ({ id, name }))],
    tags: tags.data?.content ?? [],
    fields: fields.data?.content ?? [],
    tagsAnswer: tags,
    fieldsAnswer: fields,
  };
}

export type Choices = ReturnType<typeof useChoices>;
