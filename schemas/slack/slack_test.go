package slack_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/restaq/restaq/schemas/slack"
)

// callback is an event in what Slack puts around it.
func callback(event string) []byte {
	return []byte(`{"token":"x","team_id":"T024","context_team_id":"T024","context_enterprise_id":null,"api_app_id":"A019","event":` + event +
		`,"type":"event_callback","event_id":"Ev08","event_time":1767225600,"authorizations":[{"enterprise_id":null,"team_id":"T024","user_id":"U061","is_bot":true,"is_enterprise_install":false}],"is_ext_shared_channel":false,"event_context":"4-x"}`)
}

func TestEventsComeBackAsTheyWere(t *testing.T) {
	for eventType, event := range map[string]string{
		slack.AppMentionEventType:            `{"type":"app_mention","user":"U061","text":"<@U0LAN> hej","ts":"1515449522.000016","channel":"C123","event_ts":"1515449522000016"}`,
		slack.MessageEventType:               `{"type":"message","subtype":"message_changed","ts":"1358878755.000001","hidden":true,"channel":"C123","channel_type":"channel","message":{"type":"message","user":"U061","text":"new","ts":"1355517523.000005","edited":{"user":"U061","ts":"1358878755.000001"}},"previous_message":{"type":"message","text":"old","ts":"1355517523.000005"}}`,
		slack.ReactionAddedEventType:         `{"type":"reaction_added","user":"U061","reaction":"thumbsup","item_user":"U222","item":{"type":"message","channel":"C123","ts":"1360782400.498405"},"event_ts":"1360782804.083113"}`,
		slack.ChannelRenameEventType:         `{"type":"channel_rename","channel":{"id":"C02","name":"new","created":1360782804}}`,
		slack.TeamJoinEventType:              `{"type":"team_join","user":{"id":"U9","name":"mette","tz":null,"profile":{"real_name":"Mette","image_24":"https://x.test/24"}}}`,
		slack.SubteamMembersChangedEventType: `{"type":"subteam_members_changed","subteam_id":"S0","added_users":["U1"],"added_users_count":"1","removed_users_count":0}`,
		slack.TokensRevokedEventType:         `{"type":"tokens_revoked","tokens":{"oauth":["U1"],"bot":[]}}`,
		slack.LinkSharedEventType:            `{"type":"link_shared","channel":"C1","message_ts":"1.2","links":[{"domain":"x.test","url":"https://x.test/1"}]}`,
	} {
		in := callback(event)
		if err := slack.Validate(eventType, in); err != nil {
			t.Errorf("%s: %v", eventType, err)
		}
		got, err := slack.Decode(eventType, in)
		if err != nil {
			t.Errorf("%s: %v", eventType, err)
			continue
		}
		out, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(value(t, in), value(t, out)) {
			t.Errorf("%s became %s", in, out)
		}
	}
}

func value(t *testing.T, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAMentionReadsWell(t *testing.T) {
	event, err := slack.Decode(slack.AppMentionEventType, callback(`{"type":"app_mention","user":"U061","text":"hej","ts":"1.2","channel":"C123"}`))
	if err != nil {
		t.Fatal(err)
	}
	mention := event.(slack.AppMentionEvent)
	if mention.EventID != "Ev08" || mention.Event.Channel != "C123" || mention.Event.Text != "hej" || mention.EventTime.Time().Year() != 2026 {
		t.Errorf("%+v", mention)
	}
}

// That requests come too fast is told by a body of another form.
func TestRateLimits(t *testing.T) {
	event, err := slack.Decode(slack.AppRateLimitedEventType, []byte(`{"token":"x","type":"app_rate_limited","team_id":"T1","minute_rate_limited":1518467820,"api_app_id":"A1"}`))
	if err != nil || event.(slack.AppRateLimitedEvent).TeamID != "T1" {
		t.Errorf("%+v, %v", event, err)
	}
}
