// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC721Receiver} from "@openzeppelin/contracts/token/ERC721/IERC721Receiver.sol";

interface IIdentityRegistry {
    function register() external returns (uint256 agentId);
    function register(string memory agentURI) external returns (uint256 agentId);
    function setAgentURI(uint256 agentId, string calldata newURI) external;
    function transferFrom(address from, address to, uint256 agentId) external;
}

/// Registers many identities in one transaction. It is their registrant: it keeps them, or hands each to `to`.
contract BatchRegistrar is IERC721Receiver {
    function registerMany(IIdentityRegistry registry, string[] calldata uris, address to) external {
        for (uint256 i = 0; i < uris.length; i++) {
            uint256 agentId = registry.register(uris[i]);
            if (to != address(0)) registry.transferFrom(address(this), to, agentId);
        }
    }

    function onERC721Received(address, address, uint256, bytes calldata) external pure returns (bytes4) {
        return IERC721Receiver.onERC721Received.selector;
    }
}

/// Passes an identity on inside the receiver's hook: its second Transfer comes before Registered.
contract PassingRegistrar is IERC721Receiver {
    address private _heir;
    string private _uriInHook;

    function register(IIdentityRegistry registry, string calldata uri, address heir) external {
        _heir = heir;
        registry.register(uri);
    }

    /// Names the file inside the hook too: register() itself stores none, and logs an empty one.
    function registerNamedInHook(IIdentityRegistry registry, string calldata uri, address heir) external {
        _heir = heir;
        _uriInHook = uri;
        registry.register();
        delete _uriInHook;
    }

    function onERC721Received(address, address, uint256 agentId, bytes calldata) external returns (bytes4) {
        IIdentityRegistry registry = IIdentityRegistry(msg.sender);
        if (bytes(_uriInHook).length > 0) registry.setAgentURI(agentId, _uriInHook);
        registry.transferFrom(address(this), _heir, agentId);
        return IERC721Receiver.onERC721Received.selector;
    }
}
