// HTTPClient over a socket: one request per connection, with the results of the Arduino library.
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "Arduino.h"

class HTTPClient {
 public:
  void setConnectTimeout(int32_t) {}
  void setTimeout(uint16_t ms) { timeoutMs = ms; }
  // An IPv4 address with a port, http only.
  bool begin(const String &url) {
    const std::string text = url.c_str();
    const size_t host = text.find("//") + 2, path = text.find('/', host);
    authority = text.substr(host, path - host);
    target = text.substr(path);
    return true;
  }
  void addHeader(const String &name, const String &value) {
    headers += std::string(name.c_str()) + ": " + value.c_str() + "\r\n";
  }
  int POST(const String &body) {
    const size_t colon = authority.find(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)atoi(authority.c_str() + colon + 1));
    if (inet_pton(AF_INET, authority.substr(0, colon).c_str(), &address.sin_addr) != 1) return refused;
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    timeval limit{timeoutMs / 1000, (timeoutMs % 1000) * 1000};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    const int status = exchange(connection, address, body);
    close(connection);
    return status;
  }
  void end() {}

 private:
  static constexpr int refused = -1, notSent = -3, lost = -5;
  int exchange(int connection, const sockaddr_in &address, const String &body) {
    if (connect(connection, (const sockaddr *)&address, sizeof address) != 0) return refused;
    const std::string request = "POST " + target + " HTTP/1.1\r\nhost: " + authority + "\r\n" + headers +
                                "content-length: " + std::to_string(body.length()) +
                                "\r\nconnection: close\r\n\r\n" + body.c_str();
    for (size_t sent = 0; sent < request.size();) {
      const ssize_t bytes = send(connection, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
      if (bytes <= 0) return notSent;
      sent += (size_t)bytes;
    }
    std::string response;
    char part[1024];
    ssize_t bytes;
    while ((bytes = recv(connection, part, sizeof part, 0)) > 0) response.append(part, (size_t)bytes);
    int status = 0;
    return sscanf(response.c_str(), "HTTP/1.1 %d", &status) == 1 ? status : lost;
  }

  std::string authority, target, headers;
  int timeoutMs = 5000;
};
